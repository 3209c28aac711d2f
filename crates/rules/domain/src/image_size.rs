//! Computes the width and height of an image from pixels, an aspect ratio or a resolution tier.

use crate::catalogue::{ChoiceList, ImageSpec};

/// Default width and height of models that are sized by pixels.
const SIDE_DEFAULT: u32 = 1024;
/// Minimum side that is computed from a ratio, in pixels.
const SIDE_MIN: u32 = 64;
/// Side of a square image per `K` of a tier, in pixels.
const TIER_SIDE: f64 = 1024.0;
/// Divisor of the sides of edited images: models are trained on multiples of 16 pixels.
const RATIO_DIVISOR: u32 = 16;
/// Maximum of each part of a ratio.
const RATIO_PART_MAX: u32 = 100;

/// The size options of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImageSizeRequest<'a> {
    pub width: Option<u32>,
    pub height: Option<u32>,
    pub aspect_ratio: Option<&'a str>,
    pub resolution: Option<&'a str>,
}

/// A size that the model can generate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSize {
    pub width: u32,
    pub height: u32,
    /// Set for models with aspect ratios.
    pub aspect_ratio: Option<String>,
    pub resolution: Option<String>,
}

/// The parts of an aspect ratio, such as 16 and 9, or the sides of an image with this ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideRatio {
    pub width: u32,
    pub height: u32,
}

impl SideRatio {
    pub const SQUARE: SideRatio = SideRatio { width: 1, height: 1 };
}

/// A field name and the error in its value.
pub type SizeFinding = (&'static str, String);

/// Models with `resolutions` use the ratio and the tier, models with only `aspect_ratios` use the
/// ratio, and others use the width and height. Unused options are ignored.
pub fn resolve_image_size(
    spec: &ImageSpec,
    wish: ImageSizeRequest<'_>,
) -> Result<ImageSize, Vec<SizeFinding>> {
    if spec.is_sized_by_pixels() {
        let divisor = u32::try_from(spec.width_height_divisor).unwrap_or(1).max(1);
        let steps = PixelSteps { divisor, width_min: spec.width_min, height_min: spec.height_min };
        return by_pixels(steps, wish);
    }
    let ratio = choose_option("aspect_ratio", wish.aspect_ratio, &spec.aspect_ratios);
    let tier = choose_option("resolution", wish.resolution, &spec.resolutions);
    match (ratio, tier) {
        (Ok(ratio), Ok(tier)) => {
            let (width, height) = compute_sides(
                ratio.as_deref().and_then(parse_ratio).unwrap_or(SideRatio::SQUARE),
                tier.as_deref(),
                u32::try_from(spec.width_height_divisor).unwrap_or(RATIO_DIVISOR),
            );
            Ok(ImageSize { width, height, aspect_ratio: ratio, resolution: tier })
        }
        (ratio, tier) => Err([ratio.err(), tier.err()].into_iter().flatten().collect()),
    }
}

/// The size of an edited image, from the requested ratio or else the original's.
pub fn resolve_edit_size(
    original: SideRatio,
    ratio: Option<&str>,
    resolution: Option<&str>,
) -> (u32, u32) {
    let ratio = ratio.and_then(parse_ratio).unwrap_or(original);
    compute_sides(ratio, resolution, RATIO_DIVISOR)
}

/// The sides that a model can generate, in pixels.
#[derive(Debug, Clone, Copy)]
struct PixelSteps {
    /// Not zero.
    divisor: u32,
    width_min: u32,
    height_min: u32,
}

fn by_pixels(steps: PixelSteps, wish: ImageSizeRequest<'_>) -> Result<ImageSize, Vec<SizeFinding>> {
    let divisor = steps.divisor;
    let default = SIDE_DEFAULT / divisor * divisor;
    let mut faults = Vec::new();
    let mut side = |field: &'static str, asked: Option<u32>, least: u32| {
        let side = asked.unwrap_or(default);
        if !side.is_multiple_of(divisor) || side < least {
            let below = (side / divisor * divisor).max(least.next_multiple_of(divisor));
            let above = below + divisor;
            faults.push((
                field,
                format!(
                    "Must be at least {least} and a multiple of {divisor}, such as {below} or \
                     {above}"
                ),
            ));
        }
        side
    };
    let width = side("width", wish.width, steps.width_min);
    let height = side("height", wish.height, steps.height_min);
    if faults.is_empty() {
        return Ok(ImageSize { width, height, aspect_ratio: None, resolution: None });
    }
    Err(faults)
}

/// The requested option, or the default if the caller requests none.
pub fn choose_option(
    field: &'static str,
    asked: Option<&str>,
    options: &ChoiceList<String>,
) -> Result<Option<String>, SizeFinding> {
    let Some(asked) = asked.filter(|_| !options.is_empty()) else {
        return Ok(options.default().cloned());
    };
    let known = options.options().iter().find(|it| it.eq_ignore_ascii_case(asked));
    match known {
        Some(known) => Ok(Some(known.clone())),
        None => Err((field, format!("Must be one of {}", options.options().join(", ")))),
    }
}

/// The two parts of `16:9`.
pub fn parse_ratio(ratio: &str) -> Option<SideRatio> {
    let (width, height) = ratio.split_once(':')?;
    let part = |text: &str| text.trim().parse().ok().filter(|it| (1..=RATIO_PART_MAX).contains(it));
    Some(SideRatio { width: part(width)?, height: part(height)? })
}

/// The number before `K` in a tier such as `2K`; 1 for other tier names.
fn tier_factor(tier: Option<&str>) -> f64 {
    let number = tier.and_then(|it| it.strip_suffix(['K', 'k'])).and_then(|it| it.parse().ok());
    number.filter(|it: &f64| (0.1..=16.0).contains(it)).unwrap_or(1.0)
}

/// Sides in this ratio whose area is about that of the tier's square.
fn compute_sides(ratio: SideRatio, tier: Option<&str>, divisor: u32) -> (u32, u32) {
    let ratio = f64::from(ratio.width.max(1)) / f64::from(ratio.height.max(1));
    let square = TIER_SIDE * tier_factor(tier);
    let side = |exact: f64| {
        let steps = (exact / f64::from(divisor.max(1))).round().max(1.0);
        // At most a few thousand pixels, so the cast is exact.
        (steps * f64::from(divisor.max(1))) as u32
    };
    let least = SIDE_MIN.next_multiple_of(divisor.max(1));
    (side(square * ratio.sqrt()).max(least), side(square / ratio.sqrt()).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(width: u32, height: u32) -> SideRatio {
        SideRatio { width, height }
    }

    #[test]
    fn a_ratio_and_a_tier_become_sides() {
        assert_eq!(compute_sides(ratio(1, 1), None, 16), (1024, 1024));
        assert_eq!(compute_sides(ratio(16, 9), Some("1K"), 16), (1360, 768));
        assert_eq!(compute_sides(ratio(9, 16), Some("2K"), 8), (1536, 2728));
        assert_eq!(compute_sides(ratio(1, 1), Some("4K"), 16), (4096, 4096));
        assert_eq!(compute_sides(ratio(1, 1), Some("large"), 16), (1024, 1024));
        assert_eq!(compute_sides(ratio(1, 100), None, 16), (96, 10240));
    }

    #[test]
    fn an_edited_picture_keeps_its_own_ratio_unless_asked_otherwise() {
        assert_eq!(resolve_edit_size(ratio(2000, 1000), None, None), (1456, 720));
        assert_eq!(resolve_edit_size(ratio(2000, 1000), Some("1:1"), Some("2K")), (2048, 2048));
    }

    #[test]
    fn ratios_that_are_none_are_not_read() {
        for text in ["", "16", "16:", ":9", "0:1", "1:0", "101:1", "a:b", "1:1:1"] {
            assert_eq!(parse_ratio(text), None, "{text}");
        }
    }

    #[test]
    fn pixels_are_multiples_and_the_fault_names_some() {
        let wish = |width| ImageSizeRequest { width: Some(width), ..ImageSizeRequest::default() };
        let steps = PixelSteps { divisor: 16, width_min: 64, height_min: 64 };
        assert_eq!(by_pixels(steps, wish(640)).map(|it| (it.width, it.height)), Ok((640, 1024)));
        let faults = by_pixels(steps, wish(1000)).unwrap_err();
        let told = "Must be at least 64 and a multiple of 16, such as 992 or 1008";
        assert_eq!(faults, [("width", told.to_owned())]);
        assert!(by_pixels(steps, wish(48)).is_err());
        assert!(by_pixels(steps, wish(0)).is_err());
        let any = PixelSteps { divisor: 1, width_min: 1, height_min: 200 };
        assert_eq!(by_pixels(any, wish(1)).map(|it| (it.width, it.height)), Ok((1, 1024)));
        let low = ImageSizeRequest { height: Some(199), ..wish(1) };
        let told = "Must be at least 200 and a multiple of 1, such as 200 or 201";
        assert_eq!(by_pixels(any, low), Err(vec![("height", told.to_owned())]));
    }
}
