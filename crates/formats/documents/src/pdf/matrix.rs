//! Points and affine transformations.

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PagePoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// `x' = ax + cy + e`, `y' = bx + dy + f`, as in PDF.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AffineMatrix([f64; 6]);

impl AffineMatrix {
    pub(super) const SAME: AffineMatrix = AffineMatrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn new(numbers: [f64; 6]) -> AffineMatrix {
        AffineMatrix(numbers)
    }

    pub(super) fn translation(x: f64, y: f64) -> AffineMatrix {
        AffineMatrix([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Applies this matrix first, then the other.
    pub(super) fn then(self, other: AffineMatrix) -> AffineMatrix {
        let [a, b, c, d, e, f] = self.0;
        let [oa, ob, oc, od, oe, of] = other.0;
        AffineMatrix([
            a * oa + b * oc,
            a * ob + b * od,
            c * oa + d * oc,
            c * ob + d * od,
            e * oa + f * oc + oe,
            e * ob + f * od + of,
        ])
    }

    pub(super) fn transform_point(self, x: f64, y: f64) -> PagePoint {
        let [a, b, c, d, e, f] = self.0;
        PagePoint { x: a * x + c * y + e, y: b * x + d * y + f }
    }
}

impl PagePoint {
    pub(super) fn distance(self, other: PagePoint) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    pub(super) fn is_finite(self) -> bool {
        /// Pages are at most 14,400 units wide; positions beyond this are invalid.
        const FAR: f64 = 1e7;
        self.x.abs() < FAR && self.y.abs() < FAR
    }
}
