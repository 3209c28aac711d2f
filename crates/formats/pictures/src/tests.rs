//! Tests every operation on real files, and files with misleading content.

use std::borrow::Cow;

use image::{DynamicImage, GenericImageView, RgbaImage};
use proptest::prelude::*;

use super::*;

const BOUNDS: ImageBounds = ImageBounds { pixels_min: 1, pixels_max: 100_000, side_min: 1 };

fn order(format: ImageFileFormat) -> ImageOperations {
    ImageOperations {
        bounds: BOUNDS,
        is_strict: true,
        resize: None,
        blur: false,
        mark: None,
        write: ImageEncoding::As(format),
        facts: None,
    }
}

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!("../samples/", $name)).as_slice()
    };
}

/// Red and green at the top, blue and white at the bottom.
const QUARTERS: [&[u8]; 3] = [sample!("cmyk.jpg"), sample!("palette.png"), sample!("rgb16.png")];

fn opened(bytes: &[u8]) -> DynamicImage {
    image::load_from_memory(bytes).unwrap()
}

fn as_png(bytes: &[u8]) -> DynamicImage {
    opened(&process_image(&order(ImageFileFormat::Png), bytes).unwrap().file)
}

#[track_caller]
fn check_pixel(picture: &DynamicImage, x: u32, y: u32, expected: [u8; 3]) {
    let [red, green, blue, _] = picture.get_pixel(x, y).0;
    for (it, wanted) in [red, green, blue].into_iter().zip(expected) {
        assert!(it.abs_diff(wanted) <= 24, "{:?}, not {expected:?}", [red, green, blue]);
    }
}

#[test]
fn colours_are_read_however_they_are_stored() {
    for bytes in QUARTERS {
        let picture = as_png(bytes);
        check_pixel(&picture, 8, 8, [255, 0, 0]);
        check_pixel(&picture, 56, 8, [0, 255, 0]);
        check_pixel(&picture, 8, 56, [0, 0, 255]);
        check_pixel(&picture, 56, 56, [255, 255, 255]);
    }
    let grey = as_png(sample!("gray16.png"));
    check_pixel(&grey, 8, 8, [255, 255, 255]);
    check_pixel(&grey, 8, 56, [0, 0, 0]);
    check_pixel(&as_png(sample!("gray-progressive.jpg")), 56, 56, [255, 255, 255]);
}

/// An image of one colour with a profile.
fn with_profile(colour: [u8; 3], profile: Vec<u8>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut info = png::Info::with_size(64, 64);
    info.color_type = png::ColorType::Rgb;
    info.bit_depth = png::BitDepth::Eight;
    info.icc_profile = Some(Cow::Owned(profile));
    let encoder = png::Encoder::with_info(&mut file, info).unwrap();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&colour.repeat(64 * 64)).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn colours_of_a_profile_become_those_of_the_web() {
    let wide = moxcms::ColorProfile::new_display_p3().encode().unwrap();
    let picture = as_png(&with_profile([200, 60, 60], wide));
    let [red, green, ..] = picture.get_pixel(8, 8).0;
    assert!(206 < red && green < 58, "a red of a wider space is a stronger one: {red}, {green}");
    // An unreadable profile is ignored.
    let picture = as_png(&with_profile([200, 60, 60], vec![7; 200]));
    check_pixel(&picture, 8, 8, [200, 60, 60]);
}

#[test]
fn pictures_are_turned_the_right_way_up() {
    for bytes in [sample!("turned.jpg"), sample!("turned.webp"), sample!("turned.png")] {
        let picture = as_png(bytes);
        assert_eq!(picture.dimensions(), (64, 96));
        check_pixel(&picture, 32, 8, [0, 0, 255]);
        check_pixel(&picture, 32, 88, [255, 0, 0]);
    }
}

#[test]
fn a_file_that_was_cut_short_is_corrupted() {
    let whole = |format| process_image(&order(format), sample!("turned.jpg")).unwrap().file;
    for format in ImageFileFormat::ALL {
        let file = whole(format);
        let outcome = process_image(&order(ImageFileFormat::Png), &file[..file.len() / 2]);
        assert_eq!(outcome, Err(ImageFault::Corrupted), "{format}");
    }
    let jpeg = whole(ImageFileFormat::Jpeg);
    let outcome = process_image(&order(ImageFileFormat::Png), &jpeg[..jpeg.len() - 2]);
    assert_eq!(outcome, Err(ImageFault::Corrupted), "without its end");
    let progressive = sample!("gray-progressive.jpg");
    let outcome =
        process_image(&order(ImageFileFormat::Png), &progressive[..progressive.len() / 2]);
    assert_eq!(outcome, Err(ImageFault::Corrupted));
    let lenient = ImageOperations { is_strict: false, ..order(ImageFileFormat::Png) };
    let outcome = process_image(&lenient, &jpeg[..jpeg.len() / 2]);
    assert_eq!(outcome, Err(ImageFault::Corrupted), "of an engine too");
}

#[test]
fn a_picture_covers_a_size_without_being_stretched() {
    // Four quarters: red and green at the top, blue and white at the bottom.
    let bytes = sample!("rgb16.png");
    let resized = |resize| {
        let order = ImageOperations { resize: Some(resize), ..order(ImageFileFormat::Png) };
        opened(&process_image(&order, bytes).unwrap().file)
    };
    let wide = resized(ResizeMode::Cover(PixelSize { width: 256, height: 64 }));
    assert_eq!(wide.dimensions(), (256, 64));
    check_pixel(&wide, 16, 4, [255, 0, 0]);
    check_pixel(&wide, 240, 4, [0, 255, 0]);
    check_pixel(&wide, 16, 60, [0, 0, 255]);
    let high = resized(ResizeMode::Cover(PixelSize { width: 1, height: 300 }));
    assert_eq!(high.dimensions(), (1, 300));
    let same = resized(ResizeMode::Cover(PixelSize { width: 64, height: 64 }));
    assert_eq!(same.dimensions(), (64, 64));

    assert_eq!(
        resized(ResizeMode::Form(PixelSize { width: 16, height: 9 })).dimensions(),
        (64, 36)
    );
    assert_eq!(
        resized(ResizeMode::Form(PixelSize { width: 9, height: 16 })).dimensions(),
        (36, 64)
    );
    let nearly = ResizeMode::Form(PixelSize { width: 1020, height: 1000 });
    assert_eq!(resized(nearly).dimensions(), (64, 64), "as models round their sides");
}

#[test]
fn transparency_is_kept_or_becomes_white() {
    let kept = as_png(sample!("alpha.png"));
    assert_eq!((kept.get_pixel(8, 8).0[3], kept.get_pixel(56, 8).0[3]), (0, 255));
    let webp = process_image(&order(ImageFileFormat::Webp), sample!("alpha.png")).unwrap();
    assert_eq!(opened(&webp.file).get_pixel(8, 8).0[3], 0);
    let jpeg = process_image(&order(ImageFileFormat::Jpeg), sample!("alpha.png")).unwrap();
    check_pixel(&opened(&jpeg.file), 8, 8, [255, 255, 255]);
    check_pixel(&opened(&jpeg.file), 56, 8, [0, 255, 0]);
}

#[test]
fn nothing_that_was_attached_leaves_and_only_what_is_given_does() {
    for bytes in [sample!("turned.jpg"), sample!("turned.webp"), sample!("turned.png")] {
        for format in ImageFileFormat::ALL {
            let bare = process_image(&order(format), bytes).unwrap();
            for trace in [&b"Exif"[..], b"eXIf", b"EXIF"] {
                assert!(memchr::memmem::find(&bare.file, trace).is_none(), "{format}");
            }
            let facts = Some("{\"prompt\":\"füchse\"}".to_owned());
            let told = process_image(&ImageOperations { facts, ..order(format) }, bytes).unwrap();
            assert!(memchr::memmem::find(&told.file, "füchse".as_bytes()).is_some(), "{format}");
            assert_eq!(opened(&told.file).dimensions(), (64, 96), "{format}");
            let again = inspect_image(&told.file).unwrap();
            assert_eq!((again.format, again.is_animated), (format, false));
        }
    }
    let long = Some("ü".repeat(100_000));
    let told = process_image(
        &ImageOperations { facts: long, ..order(ImageFileFormat::Jpeg) },
        sample!("alpha.png"),
    );
    assert_eq!(opened(&told.unwrap().file).dimensions(), (64, 64));
}

#[test]
fn a_blurred_picture_shows_nothing_of_what_it_was() {
    let mut stripes = image::RgbImage::new(256, 256);
    for (x, _, pixel) in stripes.enumerate_pixels_mut() {
        pixel.0 = if x % 8 < 4 { [255; 3] } else { [0; 3] };
    }
    let file = encode::encode_image(&stripes.into(), ImageEncoding::As(ImageFileFormat::Png), None)
        .unwrap()
        .file;
    let blurred =
        process_image(&ImageOperations { blur: true, ..order(ImageFileFormat::Png) }, &file)
            .unwrap();
    let blurred = opened(&blurred.file);
    assert_eq!(blurred.dimensions(), (256, 256));
    for x in 0..255 {
        let step = blurred.get_pixel(x, 128).0[0].abs_diff(blurred.get_pixel(x + 1, 128).0[0]);
        assert!(step < 32, "a stripe can be seen at {x}: {step}");
    }
}

#[test]
fn a_mark_is_small_and_in_the_corner() {
    let plain = encode_black_image(PixelSize { width: 256, height: 256 }, ImageFileFormat::Png)
        .unwrap()
        .file;
    let marked = process_image(
        &ImageOperations { mark: Some("AI".to_owned()), ..order(ImageFileFormat::Png) },
        &plain,
    );
    let marked = opened(&marked.unwrap().file);
    let is_drawn = |(x, y, pixel): (u32, u32, image::Rgba<u8>)| (pixel.0[0] != 0).then_some((x, y));
    let dots: Vec<(u32, u32)> = marked.pixels().filter_map(is_drawn).collect();
    assert!((20..2_000).contains(&dots.len()), "{}", dots.len());
    assert!(dots.iter().all(|(x, y)| 200 < *x && 200 < *y), "{dots:?}");
    // Too small for a watermark, and left unchanged.
    let tiny =
        encode_black_image(PixelSize { width: 8, height: 8 }, ImageFileFormat::Png).unwrap().file;
    assert!(
        process_image(
            &ImageOperations { mark: Some("AI".to_owned()), ..order(ImageFileFormat::Png) },
            &tiny
        )
        .is_ok()
    );
}

#[test]
fn a_picture_gets_exactly_the_size_that_was_asked_for() {
    let size = PixelSize { width: 100, height: 30 };
    let made = process_image(
        &ImageOperations { resize: Some(ResizeMode::To(size)), ..order(ImageFileFormat::Webp) },
        sample!("alpha.png"),
    );
    let made = made.unwrap();
    assert_eq!((made.size, opened(&made.file).dimensions()), (size, (100, 30)));
}

#[test]
fn a_picture_that_is_too_large_is_made_smaller_and_keeps_its_form() {
    let within = |side: u32| {
        let size = PixelSize { width: 96, height: 64 };
        let wide = encode_black_image(size, ImageFileFormat::Png).unwrap().file;
        let order = ImageOperations {
            resize: Some(ResizeMode::Within(side)),
            ..order(ImageFileFormat::Png)
        };
        let made = process_image(&order, &wide).unwrap().size;
        (made.width, made.height)
    };
    assert_eq!(within(48), (48, 32));
    assert_eq!(within(96), (96, 64), "it fits");
    assert_eq!(within(200), (96, 64), "and is not enlarged");
}

#[test]
fn engines_get_what_stays_small_without_a_loss() {
    let order = ImageOperations {
        bounds: ImageBounds { pixels_max: 10_000_000, ..BOUNDS },
        write: ImageEncoding::ForEngines,
        ..order(ImageFileFormat::Png)
    };
    let format = |bytes: &[u8]| process_image(&order, bytes).unwrap().format;
    assert_eq!(format(sample!("cmyk.jpg")), ImageFileFormat::Png);
    let large = encode_black_image(PixelSize { width: 2600, height: 2000 }, ImageFileFormat::Png)
        .unwrap()
        .file;
    assert_eq!(format(&large), ImageFileFormat::Jpeg);
}

#[track_caller]
fn check_refused(bytes: &[u8], expected: &str) {
    let fault = process_image(&order(ImageFileFormat::Png), bytes).unwrap_err();
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn what_is_no_picture_of_ours_is_named() {
    let known = "Send a PNG, JPEG or WebP file.";
    check_refused(b"", &format!("The image format is not supported. {known}"));
    check_refused(sample!("moving.gif"), &format!("It is a GIF file. {known}"));
    check_refused(b"\0\0\0\x18ftypheic", &format!("It is a HEIF file. {known}"));
    check_refused(b"%PDF-1.7", &format!("It is a PDF file. {known}"));
    check_refused(b"  <SVG xmlns=''>", &format!("It is an SVG drawing. {known}"));
    check_refused(sample!("moving.webp"), "The image is animated. Send a single frame.");
    check_refused(sample!("moving.png"), "The image is animated. Send a single frame.");
}

#[test]
fn bounds_are_held_before_anything_is_decoded() {
    let narrow = |bounds| ImageOperations { bounds, ..order(ImageFileFormat::Png) };
    let few = ImageBounds { pixels_min: 5_000, ..BOUNDS };
    let told = process_image(&narrow(few), sample!("alpha.png")).unwrap_err().to_string();
    assert!(told.ends_with("64 × 64, where at least 5000 pixels are needed."), "{told}");
    let many = ImageBounds { pixels_max: 4_095, ..BOUNDS };
    // The pixels are missing, but the header is enough for the check.
    let head = &sample!("alpha.png")[..60];
    let told = process_image(&narrow(many), head).unwrap_err();
    let size = PixelSize { width: 64, height: 64 };
    assert!(matches!(told, ImageFault::TooManyPixels { .. } | ImageFault::Corrupted), "{told}");
    let told = process_image(&narrow(many), sample!("alpha.png")).unwrap_err();
    assert_eq!(told, ImageFault::TooManyPixels { size, most: 4_095 });
    let short = ImageBounds { side_min: 65, ..BOUNDS };
    let told = process_image(&narrow(short), sample!("alpha.png")).unwrap_err();
    assert_eq!(told, ImageFault::SideTooShort { size, least: 65 });
}

#[test]
fn what_stands_behind_a_picture_is_dropped_unless_it_is_another_file() {
    let files = [
        (sample!("alpha.png"), "PNG"),
        (sample!("cmyk.jpg"), "JPEG"),
        (sample!("turned.webp"), "WebP"),
    ];
    for (file, name) in files {
        for harmless in [&b"\0\0\0\0"[..], b"\n", b"made by a camera", b"SEFT and a lot more"] {
            let whole = [file, harmless].concat();
            assert!(
                process_image(&order(ImageFileFormat::Png), &whole).is_ok(),
                "{name} {harmless:?}"
            );
        }
        for second in
            [&b"PK\x03\x04zip"[..], b"\0%PDF-1.4", b"x<?PHP echo", b"<ScRiPt>", b"GIF89a", b"MZ"]
        {
            let whole = [file, second].concat();
            let expected = format!(
                "The file contains other data after the {name} image. Send the image alone."
            );
            check_refused(&whole, &expected);
        }
    }
    let two = [sample!("cmyk.jpg"), sample!("turned.jpg")].concat();
    check_refused(&two, "The file contains other data after the JPEG image. Send the image alone.");
    // Phones announce their second image.
    let announced = [b"\xff\xd8\xff\xe2\0\x06MPF\0", &two[2..]].concat();
    assert!(process_image(&order(ImageFileFormat::Png), &announced).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Broken files are rejected or decoded; nothing panics.
    #[test]
    fn no_file_can_break_anything(
        index in 0_usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let samples = [
            sample!("cmyk.jpg"), sample!("palette.png"), sample!("turned.webp"),
            sample!("turned.jpg"), sample!("alpha.png"), sample!("moving.webp"),
        ];
        let mut bytes = samples[index].to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        for format in ImageFileFormat::ALL {
            if let Ok(made) = process_image(&order(format), &bytes) {
                prop_assert_eq!(inspect_image(&made.file).unwrap().format, format);
            }
        }
    }
}

#[test]
fn what_engines_are_sent_is_bounded_whatever_is_in_it() {
    // Noise with transparency, which cannot be a JPEG and does not compress.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let picture =
        RgbaImage::from_fn(3_000, 3_000, |_, _| image::Rgba([noise(), noise(), noise(), noise()]));
    let written = crate::encode::encode_image(
        &DynamicImage::ImageRgba8(picture),
        ImageEncoding::ForEngines,
        None,
    );
    assert!(matches!(written, Err(ImageFault::TooMuchDetail(_))));
}
