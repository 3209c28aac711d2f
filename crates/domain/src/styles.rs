//! Named image styles that a caller may use instead of a description.

/// A style: its name, and the words that are appended to the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub name: &'static str,
    words: &'static str,
}

/// The style with this name, ignoring case.
pub fn named(name: &str) -> Option<&'static Style> {
    ALL.iter().find(|style| style.name.eq_ignore_ascii_case(name.trim()))
}

pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|style| style.name)
}

impl Style {
    /// The prompt with the style's words appended.
    pub fn applied(&self, prompt: &str) -> String {
        let prompt = prompt.trim_end().trim_end_matches(['.', ',']);
        format!("{prompt}, {}", self.words)
    }
}

const fn style(name: &'static str, words: &'static str) -> Style {
    Style { name, words }
}

const ALL: &[Style] = &[
    style("Flat Illustration", "flat illustration, clean shapes, simple colours"),
    style("Landscape", "landscape, wide view, soft light"),
    style("Icon", "simple icon, centred, plain background"),
    style("3D Model", "3D model, smooth render, studio lighting"),
    style("Abstract", "abstract composition of shapes and colours"),
    style("Advertising", "advertising photograph, product in focus, polished, eye-catching"),
    style("Alien", "alien world, strange forms, otherworldly"),
    style("Analog Film", "analog film photograph, grain, slightly faded colours"),
    style("Anime", "anime style, clean lines, expressive"),
    style("Architectural", "architectural photograph, clean lines, precise perspective"),
    style("Cinematic", "cinematic still, dramatic light, shallow depth of field"),
    style("Collage", "collage of cut paper and photographs, layered"),
    style("Comic Book", "comic book panel, bold outlines, halftone shading"),
    style("Craft Clay", "made of modelling clay, soft shapes, visible fingerprints"),
    style("Cubist", "cubist painting, fragmented planes, several viewpoints"),
    style("Digital Art", "digital art, detailed, vivid"),
    style("Disco", "disco, mirror balls, glitter, coloured lights"),
    style("Dreamscape", "dreamlike, surreal, soft haze"),
    style("Dystopian", "dystopian, bleak, ruined city, grey light"),
    style("Enhance", "highly detailed, sharp, balanced light"),
    style("Fairy Tale", "fairy tale illustration, enchanted, warm glow"),
    style("Fantasy Art", "fantasy art, magical, epic, intricate"),
    style("Film Noir", "film noir, black and white, hard shadows"),
    style("Flat Papercut", "flat papercut, layered coloured paper"),
    style("Food Photography", "food photograph, appetising, close, soft window light"),
    style("Gothic", "gothic, dark, ornate, dramatic"),
    style("Graffiti", "graffiti on a wall, spray paint, bold letters and colours"),
    style("Grunge", "grunge, worn textures, scratched, faded"),
    style("HDR", "HDR photograph, rich detail in shadows and highlights"),
    style("Horror", "horror, eerie, dark, unsettling"),
    style("Hyperrealism", "hyperrealistic, extremely detailed, lifelike"),
    style("Impressionist", "impressionist painting, loose brush strokes, light"),
    style("Isometric Style", "isometric view, clean, small scene"),
    style("Kirigami", "kirigami, cut and folded paper, depth"),
    style("Line Art", "line art, black lines on white, minimal"),
    style("Long Exposure", "long exposure photograph, trails of light, motion blur"),
    style("Lowpoly", "low poly, faceted surfaces, simple colours"),
    style("Minimalist", "minimalist, few elements, much empty space"),
    style("Monochrome", "monochrome, black and white, strong contrast"),
    style("Nautical", "nautical, sea, ships, ropes, salt air"),
    style("Neon Noir", "neon noir, night city, rain, glowing signs"),
    style("Neon Punk", "neon punk, vivid neon colours, futuristic"),
    style("Origami", "origami, folded paper, crisp edges"),
    style("Paper Mache", "paper mache, textured, handmade"),
    style("Paper Quilling", "paper quilling, curled strips of paper"),
    style("Papercut Collage", "papercut collage, layered, textured paper"),
    style("Papercut Shadow Box", "papercut shadow box, layers, backlight"),
    style("Photographic", "photograph, natural light, realistic, sharp"),
    style("Pixel Art", "pixel art, limited palette, crisp pixels"),
    style("Pointillism", "pointillist painting, made of small dots"),
    style("Pop Art", "pop art, bold colours, thick outlines, dots"),
    style("Psychedelic", "psychedelic, swirling patterns, saturated colours"),
    style("Real Estate", "real estate photograph, bright, wide, inviting room"),
    style("Renaissance", "renaissance painting, oil on panel, soft modelling of light"),
    style("Retro Arcade", "retro arcade game, bright sprites, dark background"),
    style("Retro Game", "retro video game scene, few colours, blocky"),
    style("Silhouette", "silhouette against bright light, strong contrast"),
    style("Space", "outer space, stars, nebulae, vast"),
    style("Stacked Papercut", "stacked papercut, many layers, depth"),
    style("Stained Glass", "stained glass window, lead lines, glowing colours"),
    style("Steampunk", "steampunk, brass, gears, steam"),
    style("Strategy Game", "strategy game map, seen from above, small units"),
    style("Surrealist", "surrealist painting, impossible, dreamlike"),
    style("Techwear Fashion", "techwear fashion, functional fabric, urban"),
    style("Texture", "seamless texture, even light, close"),
    style("Thick Layered Papercut", "thick layered papercut, deep shadows"),
    style("Tilt-Shift", "tilt-shift photograph, like a miniature"),
    style("Tribal", "tribal patterns, earth colours, carved"),
    style("Typography", "typographic poster, letters as the main element"),
    style("Watercolor", "watercolour painting, soft edges, paper texture"),
    style("Zentangle", "zentangle, dense black patterns on white"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found_however_they_are_written() {
        for style in ALL {
            assert_eq!(named(&style.name.to_uppercase()), Some(style));
        }
        assert_eq!(named("No Such Style"), None);
        assert_eq!(
            named("Pixel Art").unwrap().applied("a fox. "),
            "a fox, pixel art, limited palette, crisp pixels"
        );
    }
}
