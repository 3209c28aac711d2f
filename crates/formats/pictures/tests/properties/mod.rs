//! Properties that hold for any bytes of an image. Shared by the fuzz target and the test of its
//! seeds.

use pictures::{
    ImageBounds, ImageEncoding, ImageFileFormat, ImageOperations, PixelSize, ResizeMode,
    inspect_image, process_image,
};

const BOUNDS: ImageBounds = ImageBounds { pixels_min: 1, pixels_max: 1 << 18, side_min: 1 };
const SIZE: PixelSize = PixelSize { width: 48, height: 32 };
const SIDE: u32 = 40;

/// Processes a file; the first byte selects the operations. Returns true if it is an image.
pub(crate) fn picture_file(bytes: &[u8]) -> bool {
    let Some((choice, file)) = bytes.split_first() else { return false };
    let has = |bit: u8| choice >> bit & 1 == 1;
    let order = ImageOperations {
        bounds: BOUNDS,
        is_strict: !has(0),
        resize: match (has(1), has(2)) {
            (true, true) => Some(ResizeMode::Cover(SIZE)),
            (true, false) => Some(ResizeMode::Within(SIDE)),
            _ => None,
        },
        blur: has(3),
        mark: has(4).then(|| "AI".to_owned()),
        write: match (has(5), has(6)) {
            (true, true) => ImageEncoding::As(ImageFileFormat::Webp),
            (true, false) => ImageEncoding::As(ImageFileFormat::Jpeg),
            (false, true) => ImageEncoding::As(ImageFileFormat::Png),
            (false, false) => ImageEncoding::ForEngines,
        },
        facts: has(7).then(|| "{\"seed\":7}".to_owned()),
    };
    let made = process_image(&order, file);
    assert_eq!(made, process_image(&order, file), "the same bytes make the same picture");
    match &made {
        Ok(made) => {
            let head = inspect_image(&made.file).expect("what we wrote can be read");
            assert_eq!((head.format, head.size, head.is_animated), (made.format, made.size, false));
            match order.resize {
                Some(ResizeMode::To(size) | ResizeMode::Cover(size)) => assert_eq!(made.size, size),
                Some(ResizeMode::Within(side)) => {
                    assert!(made.size.width.max(made.size.height) <= side, "{:?}", made.size);
                }
                Some(ResizeMode::Form(_)) | None => {
                    assert!(made.size.pixels() <= BOUNDS.pixels_max, "{:?}", made.size)
                }
            }
            let again = ImageOperations {
                is_strict: true,
                write: ImageEncoding::As(ImageFileFormat::Png),
                ..order
            };
            assert!(process_image(&again, &made.file).is_ok(), "and is nothing but a picture");
        }
        Err(fault) => assert!(fault.to_string().ends_with('.'), "a fault is a sentence"),
    }
    made.is_ok()
}
