//! Properties that hold for any bytes of an image. Shared by the fuzz target and the test of its
//! seeds.

use pictures::{Bounds, Format, Order, Resize, Size, Writing, carry_out, inspect};

const BOUNDS: Bounds = Bounds { pixels_min: 1, pixels_max: 1 << 18, side_min: 1 };
const SIZE: Size = Size { width: 48, height: 32 };
const SIDE: u32 = 40;

/// Processes a file; the first byte selects the operations. Returns true if it is an image.
pub(crate) fn picture_file(bytes: &[u8]) -> bool {
    let Some((choice, file)) = bytes.split_first() else { return false };
    let has = |bit: u8| choice >> bit & 1 == 1;
    let order = Order {
        bounds: BOUNDS,
        is_strict: !has(0),
        resize: match (has(1), has(2)) {
            (true, true) => Some(Resize::Cover(SIZE)),
            (true, false) => Some(Resize::Within(SIDE)),
            _ => None,
        },
        blur: has(3),
        mark: has(4).then(|| "AI".to_owned()),
        write: match (has(5), has(6)) {
            (true, true) => Writing::As(Format::Webp),
            (true, false) => Writing::As(Format::Jpeg),
            (false, true) => Writing::As(Format::Png),
            (false, false) => Writing::ForEngines,
        },
        facts: has(7).then(|| "{\"seed\":7}".to_owned()),
    };
    let made = carry_out(&order, file);
    assert_eq!(made, carry_out(&order, file), "the same bytes make the same picture");
    match &made {
        Ok(made) => {
            let head = inspect(&made.file).expect("what we wrote can be read");
            assert_eq!((head.format, head.size, head.is_animated), (made.format, made.size, false));
            match order.resize {
                Some(Resize::To(size) | Resize::Cover(size)) => assert_eq!(made.size, size),
                Some(Resize::Within(side)) => {
                    assert!(made.size.width.max(made.size.height) <= side, "{:?}", made.size);
                }
                Some(Resize::Form(_)) | None => {
                    assert!(made.size.pixels() <= BOUNDS.pixels_max, "{:?}", made.size)
                }
            }
            let again = Order { is_strict: true, write: Writing::As(Format::Png), ..order };
            assert!(carry_out(&again, &made.file).is_ok(), "and is nothing but a picture");
        }
        Err(fault) => assert!(fault.to_string().ends_with('.'), "a fault is a sentence"),
    }
    made.is_ok()
}
