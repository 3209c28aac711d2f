//! Converts a resolution and an aspect ratio to pixels.

/// Most encoders require a multiple of this.
const STEP: u64 = 16;

/// Width and height. The number in a resolution such as `720p` is the length of the short side.
pub(super) fn compute_pixels(
    resolution: Option<&str>,
    aspect_ratio: Option<&str>,
) -> Option<(u64, u64)> {
    pixels_in_steps(resolution, aspect_ratio, STEP)
}

/// As [`compute_pixels`], for an encoder that requires multiples of another number.
pub(super) fn pixels_in_steps(
    resolution: Option<&str>,
    aspect_ratio: Option<&str>,
    step: u64,
) -> Option<(u64, u64)> {
    let lines = match resolution? {
        "4k" => 2160,
        "true_1080p" => 1080,
        other => other.strip_suffix('p')?.parse::<u64>().ok()?,
    };
    let (width, height) = aspect_ratio.unwrap_or("16:9").split_once(':')?;
    let (width, height): (u64, u64) = (width.parse().ok()?, height.parse().ok()?);
    let short = width.min(height).max(1);
    let scaled = |side: u64| (lines * side / short).div_ceil(step).max(1) * step;
    Some((scaled(width), scaled(height)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_short_side() {
        assert_eq!(compute_pixels(Some("720p"), Some("16:9")), Some((1280, 720)));
        assert_eq!(compute_pixels(Some("720p"), Some("9:16")), Some((720, 1280)));
        assert_eq!(compute_pixels(Some("480p"), Some("1:1")), Some((480, 480)));
        assert_eq!(compute_pixels(Some("480p"), None), Some((864, 480)), "a multiple of 16");
        assert_eq!(pixels_in_steps(Some("360p"), Some("16:9"), 2), Some((640, 360)));
        assert_eq!(compute_pixels(Some("2x"), Some("1:1")), None);
        assert_eq!(compute_pixels(None, Some("1:1")), None);
    }
}
