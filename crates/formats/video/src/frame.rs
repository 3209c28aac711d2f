//! A frame in the format of H.264: luma per pixel, chroma per 2 × 2 pixels (BT.709, limited range).

/// The planes of one frame. Width and height are even.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoFrame {
    width: usize,
    height: usize,
    pub(crate) luma: Vec<u8>,
    pub(crate) blue: Vec<u8>,
    pub(crate) red: Vec<u8>,
}

/// Fractional bits of the fixed-point factors.
const BITS: i32 = 16;
const HALF: i32 = 1 << (BITS - 1);
/// Black in limited range.
const LUMA_LEAST: i32 = 16;
/// Neutral chroma.
const CHROMA_MIDDLE: i32 = 128;

impl VideoFrame {
    /// Returns `None` if the number of bytes does not match the size, or a side is odd.
    pub fn from_rgb(width: usize, height: usize, rgb: &[u8]) -> Option<VideoFrame> {
        let is_even = width.is_multiple_of(2) && height.is_multiple_of(2);
        let bytes = width.checked_mul(height)?.checked_mul(3)?;
        if !is_even || bytes == 0 || rgb.len() != bytes {
            return None;
        }
        let pixels = rgb.as_chunks::<3>().0;
        let (mut blue, mut red) = (Vec::new(), Vec::new());
        for row in (0..height).step_by(2) {
            for column in (0..width).step_by(2) {
                let at = row * width + column;
                let four = [at, at + 1, at + width, at + width + 1].map(|at| pixels[at]);
                let mean = [0, 1, 2].map(|channel| {
                    let sum: i32 = four.iter().map(|pixel| i32::from(pixel[channel])).sum();
                    (sum + 2) / 4
                });
                blue.push(blue_difference(mean));
                red.push(red_difference(mean));
            }
        }
        let luma = pixels.iter().map(|pixel| compute_luma(pixel.map(i32::from))).collect();
        Some(VideoFrame { width, height, luma, blue, red })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }
}

/// Luma, with BT.709 factors in steps of 2⁻¹⁶, from 16 to 235.
fn compute_luma([red, green, blue]: [i32; 3]) -> u8 {
    to_byte(11_966 * red + 40_254 * green + 4_064 * blue, LUMA_LEAST)
}

/// Chroma Cb, from 16 to 240.
fn blue_difference([red, green, blue]: [i32; 3]) -> u8 {
    to_byte(-6_596 * red - 22_189 * green + 28_785 * blue, CHROMA_MIDDLE)
}

/// Chroma Cr, from 16 to 240.
fn red_difference([red, green, blue]: [i32; 3]) -> u8 {
    to_byte(28_785 * red - 26_145 * green - 2_640 * blue, CHROMA_MIDDLE)
}

fn to_byte(scaled: i32, offset: i32) -> u8 {
    u8::try_from(((scaled + HALF) >> BITS) + offset).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(rgb: [u8; 3]) -> (u8, u8, u8) {
        let frame = VideoFrame::from_rgb(2, 2, &rgb.repeat(4)).unwrap();
        (frame.luma[0], frame.blue[0], frame.red[0])
    }

    #[test]
    fn colours_are_those_of_the_standard() {
        assert_eq!(even([0, 0, 0]), (16, 128, 128));
        assert_eq!(even([255, 255, 255]), (235, 128, 128));
        assert_eq!(even([255, 0, 0]), (63, 102, 240));
        assert_eq!(even([0, 0, 255]), (32, 240, 118));
    }

    #[test]
    fn what_is_no_picture_of_its_size_is_none() {
        assert_eq!(VideoFrame::from_rgb(3, 2, &[0; 18]), None);
        assert_eq!(VideoFrame::from_rgb(2, 2, &[0; 11]), None);
        assert_eq!(VideoFrame::from_rgb(0, 0, &[]), None);
        assert_eq!(VideoFrame::from_rgb(usize::MAX, 2, &[0; 12]), None);
    }
}
