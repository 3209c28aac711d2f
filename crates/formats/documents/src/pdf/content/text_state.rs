//! The text state: position and metrics of the next glyph.

use std::rc::Rc;

use super::super::font::PdfFont;
use super::super::matrix::{AffineMatrix, PagePoint};
use super::super::object::PdfObject;
use super::super::run::PlacedGlyph;
use super::matrix_of;

#[derive(Clone)]
pub(super) struct GraphicsState {
    pub(super) matrix: AffineMatrix,
    pub(super) text: TextState,
}

#[derive(Clone)]
pub(super) struct TextState {
    pub(super) font: Option<Rc<PdfFont>>,
    pub(super) size: f64,
    pub(super) character_space: f64,
    pub(super) word_space: f64,
    /// Horizontal scaling.
    stretch: f64,
    leading: f64,
    rise: f64,
    /// Position of the next glyph, and of the start of the line.
    matrix: AffineMatrix,
    line: AffineMatrix,
}

impl Default for GraphicsState {
    fn default() -> GraphicsState {
        let text = TextState {
            font: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            matrix: AffineMatrix::SAME,
            line: AffineMatrix::SAME,
        };
        GraphicsState { matrix: AffineMatrix::SAME, text }
    }
}

impl GraphicsState {
    /// Applies operators that move or set metrics. Others do not affect text.
    pub(super) fn apply_operator(&mut self, operator: &[u8], operands: &[PdfObject]) {
        let text = &mut self.text;
        let last = operands.last().and_then(PdfObject::as_number);
        let pair = match operands {
            [.., PdfObject::Number(x), PdfObject::Number(y)] => Some((*x, *y)),
            _ => None,
        };
        match (operator, last, pair) {
            (b"cm", _, _) => {
                let matrix = matrix_of(operands).unwrap_or(AffineMatrix::SAME);
                self.matrix = matrix.then(self.matrix);
            }
            (b"BT", _, _) => text.begin(AffineMatrix::SAME),
            (b"Tm", _, _) => text.begin(matrix_of(operands).unwrap_or(AffineMatrix::SAME)),
            (b"Td", _, Some((x, y))) => text.move_line(x, y),
            (b"TD", _, Some((x, y))) => {
                text.leading = -y;
                text.move_line(x, y);
            }
            (b"T*", _, _) => text.next_line(),
            (b"Tc", Some(space), _) => text.character_space = space,
            (b"Tw", Some(space), _) => text.word_space = space,
            (b"Tz", Some(percent), _) => text.stretch = percent / 100.0,
            (b"TL", Some(leading), _) => text.leading = leading,
            (b"Ts", Some(rise), _) => text.rise = rise,
            _ => {}
        }
    }
}

impl TextState {
    fn begin(&mut self, matrix: AffineMatrix) {
        (self.matrix, self.line) = (matrix, matrix);
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.begin(AffineMatrix::translation(x, y).then(self.line));
    }

    pub(super) fn next_line(&mut self) {
        self.move_line(0.0, -self.leading);
    }

    /// Moves back by thousandths of the font size.
    pub(super) fn adjust(&mut self, thousandths: f64) {
        self.advance(-thousandths / 1000.0 * self.size);
    }

    fn advance(&mut self, length: f64) {
        let (x, y) = if self.is_vertical() { (0.0, length) } else { (length * self.stretch, 0.0) };
        self.matrix = AffineMatrix::translation(x, y).then(self.matrix);
    }

    fn is_vertical(&self) -> bool {
        self.font.as_ref().is_some_and(|font| font.is_vertical)
    }

    /// Places a glyph of this width and advances. `None` if its position is invalid.
    pub(super) fn place_glyph(
        &mut self,
        width: f64,
        is_space: bool,
        page: AffineMatrix,
    ) -> Option<PlacedGlyph<'static>> {
        let is_vertical = self.is_vertical();
        let size = self.size;
        let sign = if is_vertical { -1.0 } else { 1.0 };
        let before = self.matrix.then(page);
        self.advance(sign * (width * size + self.character_space));
        let after = self.matrix.then(page);
        if is_space {
            self.advance(sign * self.word_space);
        }
        let [start, end] = [before, after].map(|it| it.transform_point(0.0, self.rise));
        let ahead = if is_vertical { (0.0, -size) } else { (size * self.stretch, 0.0) };
        let ahead = before.transform_point(ahead.0, ahead.1 + self.rise);
        let up = if is_vertical { (size, 0.0) } else { (0.0, size) };
        let height = start.distance(before.transform_point(up.0, up.1 + self.rise));
        let has_size = 0.0 < height && height.is_finite();
        let is_somewhere = start.is_finite() && end.is_finite() && has_size;
        is_somewhere.then(|| PlacedGlyph {
            text: "",
            start,
            end,
            size: height,
            angle: compute_angle(start, ahead),
        })
    }
}

/// Direction from one point to another, in whole degrees from 0 to 359.
fn compute_angle(from: PagePoint, to: PagePoint) -> i32 {
    let degrees = (to.y - from.y).atan2(to.x - from.x).to_degrees().round();
    #[expect(clippy::cast_possible_truncation, reason = "between -180 and 180")]
    let degrees = degrees as i32;
    degrees.rem_euclid(360)
}
