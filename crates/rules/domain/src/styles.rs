//! Named image styles that a caller may use instead of a description.

/// A style: its name, and the words that are appended to the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageStyle {
    pub name: &'static str,
    words: &'static str,
}

/// The style with this name, ignoring case.
pub fn find_style(name: &str) -> Option<&'static ImageStyle> {
    ALL.iter().find(|style| style.name.eq_ignore_ascii_case(name.trim()))
}

pub fn style_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|style| style.name)
}

impl ImageStyle {
    /// The prompt with the style's words appended.
    pub fn apply_to(&self, prompt: &str) -> String {
        let prompt = prompt.trim_end().trim_end_matches(['.', ',']);
        format!("{prompt}, {}", self.words)
    }
}

const fn build_style(name: &'static str, words: &'static str) -> ImageStyle {
    ImageStyle { name, words }
}

const ALL: &[ImageStyle] = &[
    build_style("Flat Illustration", "flat illustration, clean shapes, simple colours"),
    build_style("Landscape", "landscape, wide view, soft light"),
    build_style("Icon", "simple icon, centred, plain background"),
    build_style("3D Model", "3D model, smooth render, studio lighting"),
    build_style("Abstract", "abstract composition of shapes and colours"),
    build_style("Advertising", "advertising photograph, product in focus, polished, eye-catching"),
    build_style("Alien", "alien world, strange forms, otherworldly"),
    build_style("Analog Film", "analog film photograph, grain, slightly faded colours"),
    build_style("Anime", "anime style, clean lines, expressive"),
    build_style("Architectural", "architectural photograph, clean lines, precise perspective"),
    build_style("Cinematic", "cinematic still, dramatic light, shallow depth of field"),
    build_style("Collage", "collage of cut paper and photographs, layered"),
    build_style("Comic Book", "comic book panel, bold outlines, halftone shading"),
    build_style("Craft Clay", "made of modelling clay, soft shapes, visible fingerprints"),
    build_style("Cubist", "cubist painting, fragmented planes, several viewpoints"),
    build_style("Digital Art", "digital art, detailed, vivid"),
    build_style("Disco", "disco, mirror balls, glitter, coloured lights"),
    build_style("Dreamscape", "dreamlike, surreal, soft haze"),
    build_style("Dystopian", "dystopian, bleak, ruined city, grey light"),
    build_style("Enhance", "highly detailed, sharp, balanced light"),
    build_style("Fairy Tale", "fairy tale illustration, enchanted, warm glow"),
    build_style("Fantasy Art", "fantasy art, magical, epic, intricate"),
    build_style("Film Noir", "film noir, black and white, hard shadows"),
    build_style("Flat Papercut", "flat papercut, layered coloured paper"),
    build_style("Food Photography", "food photograph, appetising, close, soft window light"),
    build_style("Gothic", "gothic, dark, ornate, dramatic"),
    build_style("Graffiti", "graffiti on a wall, spray paint, bold letters and colours"),
    build_style("Grunge", "grunge, worn textures, scratched, faded"),
    build_style("HDR", "HDR photograph, rich detail in shadows and highlights"),
    build_style("Horror", "horror, eerie, dark, unsettling"),
    build_style("Hyperrealism", "hyperrealistic, extremely detailed, lifelike"),
    build_style("Impressionist", "impressionist painting, loose brush strokes, light"),
    build_style("Isometric Style", "isometric view, clean, small scene"),
    build_style("Kirigami", "kirigami, cut and folded paper, depth"),
    build_style("Line Art", "line art, black lines on white, minimal"),
    build_style("Long Exposure", "long exposure photograph, trails of light, motion blur"),
    build_style("Lowpoly", "low poly, faceted surfaces, simple colours"),
    build_style("Minimalist", "minimalist, few elements, much empty space"),
    build_style("Monochrome", "monochrome, black and white, strong contrast"),
    build_style("Nautical", "nautical, sea, ships, ropes, salt air"),
    build_style("Neon Noir", "neon noir, night city, rain, glowing signs"),
    build_style("Neon Punk", "neon punk, vivid neon colours, futuristic"),
    build_style("Origami", "origami, folded paper, crisp edges"),
    build_style("Paper Mache", "paper mache, textured, handmade"),
    build_style("Paper Quilling", "paper quilling, curled strips of paper"),
    build_style("Papercut Collage", "papercut collage, layered, textured paper"),
    build_style("Papercut Shadow Box", "papercut shadow box, layers, backlight"),
    build_style("Photographic", "photograph, natural light, realistic, sharp"),
    build_style("Pixel Art", "pixel art, limited palette, crisp pixels"),
    build_style("Pointillism", "pointillist painting, made of small dots"),
    build_style("Pop Art", "pop art, bold colours, thick outlines, dots"),
    build_style("Psychedelic", "psychedelic, swirling patterns, saturated colours"),
    build_style("Real Estate", "real estate photograph, bright, wide, inviting room"),
    build_style("Renaissance", "renaissance painting, oil on panel, soft modelling of light"),
    build_style("Retro Arcade", "retro arcade game, bright sprites, dark background"),
    build_style("Retro Game", "retro video game scene, few colours, blocky"),
    build_style("Silhouette", "silhouette against bright light, strong contrast"),
    build_style("Space", "outer space, stars, nebulae, vast"),
    build_style("Stacked Papercut", "stacked papercut, many layers, depth"),
    build_style("Stained Glass", "stained glass window, lead lines, glowing colours"),
    build_style("Steampunk", "steampunk, brass, gears, steam"),
    build_style("Strategy Game", "strategy game map, seen from above, small units"),
    build_style("Surrealist", "surrealist painting, impossible, dreamlike"),
    build_style("Techwear Fashion", "techwear fashion, functional fabric, urban"),
    build_style("Texture", "seamless texture, even light, close"),
    build_style("Thick Layered Papercut", "thick layered papercut, deep shadows"),
    build_style("Tilt-Shift", "tilt-shift photograph, like a miniature"),
    build_style("Tribal", "tribal patterns, earth colours, carved"),
    build_style("Typography", "typographic poster, letters as the main element"),
    build_style("Watercolor", "watercolour painting, soft edges, paper texture"),
    build_style("Zentangle", "zentangle, dense black patterns on white"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found_however_they_are_written() {
        for style in ALL {
            assert_eq!(find_style(&style.name.to_uppercase()), Some(style));
        }
        assert_eq!(find_style("No Such Style"), None);
        assert_eq!(
            find_style("Pixel Art").unwrap().apply_to("a fox. "),
            "a fox, pixel art, limited palette, crisp pixels"
        );
    }
}
