//! Draws an image on a frame of another aspect ratio with a virtual camera (zoom and pan). The
//! image fills the frame or is a square in its middle; beyond its edge, the edge pixels continue
//! with increasing blur.

/// RGB pixels to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RgbPixels<'a> {
    pub rgb: &'a [u8],
    pub width: usize,
    pub height: usize,
}

/// The part of the frame that the image covers at zoom 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFit {
    /// A centred square with the frame's short side.
    Square,
    /// The whole frame, regardless of the image's aspect ratio.
    Fill,
}

/// The camera's view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraView {
    pub fit: ImageFit,
    /// 1 is the size given by `fit`.
    pub zoom: f32,
    /// Offset of the image, as a fraction of its side.
    pub right: f32,
    pub down: f32,
}

/// The size of a frame to draw on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameCanvas {
    pub width: usize,
    pub height: usize,
}

const CHANNELS: usize = 3;
/// Distance beyond the edge, as a fraction of the side, at which the blur is complete.
const FADE: f32 = 0.12;
/// Radius of the blur, as a fraction of the side.
const BLUR: f32 = 0.06;

impl FrameCanvas {
    /// Draws the frame.
    pub fn draw(self, pixels: RgbPixels<'_>, view: CameraView) -> Vec<u8> {
        let RgbPixels { rgb, width, height } = pixels;
        let clear: Vec<f32> = rgb.iter().map(|byte| f32::from(*byte)).collect();
        let short = self.width.min(self.height);
        let axis = |length: usize, side: usize, moved: f32| -> Vec<PixelTaps> {
            let covered = if view.fit == ImageFit::Fill { length } else { short };
            let scale = side as f32 / (covered as f32 * view.zoom.max(f32::EPSILON));
            let middle = length as f32 / 2.0;
            let place = |at: usize| (at as f32 + 0.5 - middle) * scale - moved * side as f32;
            (0..length)
                .map(|at| PixelTaps::around_position(place(at) + side as f32 / 2.0, side))
                .collect()
        };
        let columns = axis(self.width, width, view.right);
        let rows = axis(self.height, height, view.down);
        let is_left = rows.iter().chain(&columns).any(|taps| 0.0 < taps.beyond);
        let unclear =
            is_left.then(|| stretch_rows(&blur_image(&clear, width, height), width, &columns));
        let clear = stretch_rows(&clear, width, &columns);
        let mut drawn = Vec::with_capacity(self.width * self.height * CHANNELS);
        for row in &rows {
            for (at, column) in columns.iter().enumerate() {
                let unclear_part = row.beyond.max(column.beyond);
                for channel in 0..CHANNELS {
                    let sum = |of: &[f32]| -> f32 {
                        let value = |tap: usize| of[(tap * self.width + at) * CHANNELS + channel];
                        row.taps.iter().map(|(tap, weight)| weight * value(*tap)).sum()
                    };
                    let mut value = sum(&clear);
                    if let Some(unclear) = unclear.as_ref().filter(|_| 0.0 < unclear_part) {
                        value += unclear_part * (sum(unclear) - value);
                    }
                    drawn.push(value.round().clamp(0.0, 255.0) as u8);
                }
            }
        }
        drawn
    }
}

/// Source pixels and weights of a row or column of the frame.
struct PixelTaps {
    taps: [(usize, f32); 4],
    /// From 0 (on the image) to 1 (fully blurred).
    beyond: f32,
}

impl PixelTaps {
    /// Four neighbours with Catmull–Rom weights, clamped at the edge.
    fn around_position(place: f32, side: usize) -> PixelTaps {
        let last = side as f32 - 1.0;
        let outside = (-place).max(place - side as f32).max(0.0);
        let place = (place - 0.5).clamp(0.0, last);
        let (first, part) = (place.floor(), place.fract());
        let weights = [
            part * (-0.5 + part * (1.0 - 0.5 * part)),
            1.0 + part * part * (-2.5 + 1.5 * part),
            part * (0.5 + part * (2.0 - 1.5 * part)),
            part * part * (-0.5 + 0.5 * part),
        ];
        let neighbour = |offset: usize| (first + offset as f32 - 1.0).clamp(0.0, last) as usize;
        let taps = [0, 1, 2, 3].map(|offset| (neighbour(offset), weights[offset]));
        PixelTaps { taps, beyond: (outside / (FADE * side as f32)).min(1.0) }
    }
}

/// Resamples every row of the image to the columns of the frame.
fn stretch_rows(picture: &[f32], width: usize, columns: &[PixelTaps]) -> Vec<f32> {
    let mut rows = Vec::with_capacity(picture.len() / width.max(1) * columns.len());
    for row in picture.chunks_exact(width.max(1) * CHANNELS) {
        for column in columns {
            for channel in 0..CHANNELS {
                let value = |tap: usize| row[tap * CHANNELS + channel];
                rows.push(column.taps.iter().map(|(tap, weight)| weight * value(*tap)).sum());
            }
        }
    }
    rows
}

/// Box blur along rows, then columns.
fn blur_image(picture: &[f32], width: usize, height: usize) -> Vec<f32> {
    let mut blurred = picture.to_vec();
    let along_rows = (width, height, CHANNELS, width * CHANNELS);
    let along_columns = (height, width, width * CHANNELS, CHANNELS);
    for (side, lines, step, across) in [along_rows, along_columns] {
        let reach = (BLUR * side as f32) as usize;
        let before = blurred.clone();
        for line in 0..lines {
            for channel in 0..CHANNELS {
                let at = |place: usize| line * across + place * step + channel;
                let clamped = |place: usize| at(place.saturating_sub(reach).min(side - 1));
                let mut sum: f32 = (0..=2 * reach).map(|place| before[clamped(place)]).sum();
                for place in 0..side {
                    blurred[at(place)] = sum / (2 * reach + 1) as f32;
                    sum += before[clamped(place + 2 * reach + 1)] - before[clamped(place)];
                }
            }
        }
    }
    blurred
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: CameraView =
        CameraView { fit: ImageFit::Square, zoom: 1.0, right: 0.0, down: 0.0 };
    const SIDE: usize = 32;

    /// A horizontal gradient with a dot.
    fn picture() -> Vec<u8> {
        let pixel =
            |at: usize| if at == 16 * SIDE + 8 { [255, 0, 0] } else { [(at % SIDE) as u8 * 4; 3] };
        (0..SIDE * SIDE).flat_map(pixel).collect()
    }

    fn square(rgb: &[u8]) -> RgbPixels<'_> {
        RgbPixels { rgb, width: SIDE, height: SIDE }
    }

    fn dot(canvas: FrameCanvas, view: CameraView) -> (usize, usize) {
        let drawn = canvas.draw(square(&picture()), view);
        let redness = |at: usize| i32::from(drawn[at * 3]) - i32::from(drawn[at * 3 + 1]);
        let most = (0..canvas.width * canvas.height).max_by_key(|at| redness(*at)).unwrap();
        (most % canvas.width, most / canvas.width)
    }

    #[test]
    fn a_frame_of_the_same_form_is_the_same_picture() {
        let canvas = FrameCanvas { width: SIDE, height: SIDE };
        assert_eq!(canvas.draw(square(&picture()), PLAIN), picture());
    }

    #[test]
    fn the_picture_lies_in_the_middle_and_its_edge_goes_on() {
        let canvas = FrameCanvas { width: 64, height: SIDE };
        assert_eq!(dot(canvas, PLAIN), (16 + 8, 16));
        let drawn = canvas.draw(square(&picture()), PLAIN);
        let red = |column: usize| i32::from(drawn[(4 * 64 + column) * 3]);
        assert!((red(15) - red(16)).abs() <= 8 && (red(47) - red(48)).abs() <= 8, "no seam");
        assert!(red(0) < 20 && 105 < red(63), "{} {}", red(0), red(63));
    }

    #[test]
    fn a_camera_goes_nearer_and_to_the_side() {
        let canvas = FrameCanvas { width: 64, height: 64 };
        let (column, row) = dot(canvas, PLAIN);
        let nearer = dot(canvas, CameraView { zoom: 1.5, ..PLAIN });
        assert!(nearer.0 < column && row <= nearer.1, "{nearer:?}");
        let moved = dot(canvas, CameraView { right: 0.25, down: -0.125, ..PLAIN });
        assert_eq!((moved.0 as i32 - column as i32, moved.1 as i32 - row as i32), (16, -8));
    }

    #[test]
    fn what_is_even_stays_even() {
        let even = vec![77; SIDE * SIDE * 3];
        let drawn = FrameCanvas { width: 50, height: 20 }
            .draw(square(&even), CameraView { zoom: 1.3, ..PLAIN });
        assert!(drawn.iter().all(|byte| *byte == 77));
    }

    #[test]
    fn a_picture_that_fills_the_frame_is_as_it_was_and_reaches_its_edges() {
        let rgb = picture();
        let wide = RgbPixels { rgb: &rgb[..SIDE * SIDE / 2 * 3], width: SIDE, height: SIDE / 2 };
        let filled = CameraView { fit: ImageFit::Fill, ..PLAIN };
        let same = FrameCanvas { width: SIDE, height: SIDE / 2 }.draw(wide, filled);
        assert_eq!(same, wide.rgb);
        let canvas = FrameCanvas { width: 128, height: SIDE };
        let drawn = canvas.draw(square(&rgb), filled);
        let red = |column: usize| i32::from(drawn[(4 * 128 + column) * 3]);
        assert!(red(0) < 8 && 118 < red(127), "{} {}", red(0), red(127));
        assert!((red(64) - 64).abs() < 8, "{}", red(64));
        assert_eq!(dot(canvas, filled), (4 * 8 + 2, 16));
    }
}
