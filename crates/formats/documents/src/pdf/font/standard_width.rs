//! Character widths of the standard fonts, which files need not describe.

/// Widths from space to tilde in Helvetica, in thousandths of the font size.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Widths from space to tilde in Times.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
    556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
    722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
    278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];
/// Width of all characters of Courier.
const COURIER: u16 = 600;
/// Approximate factor of bold fonts; exact tables would not improve the detection of word ends.
const BOLD: f64 = 1.05;

/// Width in thousandths of the font size. Approximates other fonts too.
pub(super) fn find_standard_width(font: &[u8], character: Option<char>) -> f64 {
    let is = |word: &[u8]| memchr::memmem::find(font, word).is_some();
    if is(b"Courier") || is(b"Mono") {
        return f64::from(COURIER);
    }
    let is_times = is(b"Times") || is(b"Serif") || is(b"Roman");
    let (table, usual) = if is_times { (&TIMES, 500) } else { (&HELVETICA, 556) };
    let place = character.and_then(|it| usize::try_from(u32::from(it)).ok()?.checked_sub(0x20));
    let width = f64::from(*place.and_then(|place| table.get(place)).unwrap_or(&usual));
    if is(b"Bold") { width * BOLD } else { width }
}
