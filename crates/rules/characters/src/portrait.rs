//! Portraits for characters without one: a simple face, derived from the name.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

const SKINS: [&str; 6] = ["#f6d7c3", "#e8b796", "#c98d62", "#a56a43", "#7a4a2d", "#f0c9a8"];
const HAIR: [&str; 6] = ["#2b2320", "#5b3a29", "#8d5a34", "#c9a15a", "#9a9a9a", "#7b3f61"];
const COLOURS: [(&str, &str); 8] = [
    ("#1f4e5f", "#f2b880"),
    ("#3d405b", "#e07a5f"),
    ("#386641", "#f4f1bb"),
    ("#5f0f40", "#fb8b24"),
    ("#22577a", "#c7f9cc"),
    ("#6d597a", "#ffcdb2"),
    ("#264653", "#e9c46a"),
    ("#8d0801", "#f4d58d"),
];

/// Returns an SVG of 256 by 256. The same name gives the same face.
pub fn draw_portrait(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let pick = |index: usize, of: usize| usize::from(digest[index]) % of;
    let (back, cloth) = COLOURS[pick(0, COLOURS.len())];
    let (skin, hair) = (SKINS[pick(1, SKINS.len())], HAIR[pick(2, HAIR.len())]);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 256 256\" role=\"img\">\
         <rect width=\"256\" height=\"256\" fill=\"{back}\"/>\
         <circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{cloth}\" opacity=\".25\"/>\
         <path d=\"M40 256c0-60 40-84 88-84s88 24 88 84z\" fill=\"{cloth}\"/>\
         <rect x=\"108\" y=\"146\" width=\"40\" height=\"44\" rx=\"18\" fill=\"{skin}\"/>",
        40 + pick(3, 170),
        30 + pick(4, 90),
        50 + pick(5, 50),
    );
    let back_hair = match pick(6, 4) {
        0 => "M70 176c-16-90 8-124 58-124s74 34 58 124z",
        1 => "M66 120c0-52 26-76 62-76s62 24 62 76z",
        2 => "M60 150c-8-80 24-108 68-108s76 28 68 108c-6 20-20 10-20-10H80c0 20-14 30-20 10z",
        _ => "",
    };
    let _ = write!(
        svg,
        "<path d=\"{back_hair}\" fill=\"{hair}\"/>\
         <ellipse cx=\"128\" cy=\"116\" rx=\"46\" ry=\"54\" fill=\"{skin}\"/>"
    );
    let fringe = match pick(7, 4) {
        0 => "M82 108c2-40 24-54 46-54s44 14 46 54c-14-22-30-26-46-26s-32 4-46 26z",
        1 => "M82 104c6-38 30-50 60-46 24 4 32 22 32 46-20-4-44-14-56-28-8 14-20 24-36 28z",
        2 => "M84 96c0-30 20-44 44-44s44 14 44 44c-30-14-58-14-88 0z",
        _ => "M98 66c14-12 46-12 60 0-6-18-54-18-60 0z",
    };
    let _ = write!(
        svg,
        "<path d=\"{fringe}\" fill=\"{hair}\"/>\
         <circle cx=\"110\" cy=\"118\" r=\"5\" fill=\"#222\"/>\
         <circle cx=\"146\" cy=\"118\" r=\"5\" fill=\"#222\"/>"
    );
    if pick(8, 3) == 0 {
        svg.push_str(
            "<g fill=\"none\" stroke=\"#222\" stroke-width=\"4\"><circle cx=\"110\" cy=\"118\" r=\"15\"/>\
             <circle cx=\"146\" cy=\"118\" r=\"15\"/><path d=\"M125 118h6\"/></g>",
        );
    }
    let mouth = match pick(9, 3) {
        0 => "M112 144q16 14 32 0",
        1 => "M114 146q14 6 28 0",
        _ => "M112 142q16 20 32 0z",
    };
    let _ = write!(
        svg,
        "<path d=\"{mouth}\" fill=\"none\" stroke=\"#7a2e2e\" stroke-width=\"4\" \
         stroke-linecap=\"round\"/></svg>"
    );
    svg
}
