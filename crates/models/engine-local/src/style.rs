//! Adds a default style to image prompts without one.

/// A prompt without any of these words gets [`STYLE_DEFAULT`]: the model was trained with named
/// styles and draws black silhouettes without one.
const STYLES: [&str; 16] = [
    "illustration",
    "emoji",
    "3d",
    "line art",
    "pixel art",
    "sticker",
    "drawing",
    "silhouette",
    "portrait",
    "icon",
    "render",
    "sketch",
    "outline",
    "cartoon",
    "flat",
    "avatar",
];
const STYLE_DEFAULT: &str = ", flat illustration";

pub(crate) fn with_style(prompt: &str) -> String {
    let lower = prompt.to_lowercase();
    let names_one = STYLES.iter().any(|style| lower.contains(style));
    if names_one { prompt.to_owned() } else { format!("{prompt}{STYLE_DEFAULT}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_without_a_style_gets_one() {
        assert_eq!(with_style("a red fox"), "a red fox, flat illustration");
        assert_eq!(with_style("a red fox, Pixel Art"), "a red fox, Pixel Art");
    }
}
