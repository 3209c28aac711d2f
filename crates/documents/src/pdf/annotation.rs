//! Annotations of a page: values of form fields, and visible notes.

use super::content::{Painter, matrix_of};
use super::matrix::Matrix;
use super::object::{Dict, Object, Stream};
use crate::fault::Unreadable;

/// Maximum per page.
const ANNOTATIONS_MAX: usize = 5_000;
/// Flag bits of annotations that are not shown: hidden, and no view.
const HIDDEN: usize = 0b10_0010;
/// Cost of an annotation, in steps.
const ANNOTATION_STEPS: usize = 64;

pub(super) fn draw(painter: &mut Painter<'_, '_>, page: &Dict) -> Result<(), Unreadable> {
    let annotations = painter.file.get(page, "Annots")?;
    let Some(annotations) = annotations.array() else { return Ok(()) };
    for annotation in annotations.iter().take(ANNOTATIONS_MAX) {
        painter.file.effort.spend(ANNOTATION_STEPS)?;
        let annotation = painter.file.resolve(annotation)?;
        let Some(annotation) = annotation.dict() else { continue };
        let is_hidden = annotation.raw("F").index().unwrap_or(0) & HIDDEN != 0;
        let is_popup = annotation.raw("Subtype").name() == Some(b"Popup");
        if is_hidden || is_popup {
            continue;
        }
        if let Some(stream) = appearance(painter, annotation)? {
            let place = place(painter, annotation, &stream)?;
            painter.draw_apart(&stream, place)?;
        }
    }
    Ok(())
}

/// The current appearance stream. Check boxes have one per state.
fn appearance(
    painter: &mut Painter<'_, '_>,
    annotation: &Dict,
) -> Result<Option<Stream>, Unreadable> {
    let looks = painter.file.dict(annotation, "AP")?;
    let look = match painter.file.get(&looks, "N")? {
        Object::Dict(states) => {
            let state = painter.file.get(annotation, "AS")?;
            painter.file.resolve(states.raw_bytes(state.name().unwrap_or_default()))?
        }
        look => look,
    };
    Ok(match look {
        Object::Stream(stream) => Some(stream),
        _ => None,
    })
}

/// The matrix that maps the appearance's bounding box to the annotation's rectangle.
fn place(
    painter: &mut Painter<'_, '_>,
    annotation: &Dict,
    stream: &Stream,
) -> Result<Matrix, Unreadable> {
    let shown = painter.file.get(annotation, "Rect")?;
    let drawn = painter.file.get(&stream.dict, "BBox")?;
    let matrix = painter.file.get(&stream.dict, "Matrix")?;
    let matrix = matrix.array().and_then(|it| matrix_of(it)).unwrap_or(Matrix::SAME);
    let (Some(shown), Some(drawn)) = (corners(&shown), corners(&drawn)) else {
        return Ok(Matrix::SAME);
    };
    let [left, bottom, right, top] = drawn;
    let places = [(left, bottom), (left, top), (right, bottom), (right, top)];
    let places = places.map(|(x, y)| matrix.place(x, y));
    let least = |values: [f64; 4]| values.into_iter().fold(f64::INFINITY, f64::min);
    let most = |values: [f64; 4]| values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let (xs, ys) = (places.map(|it| it.x), places.map(|it| it.y));
    let stretch = |shown: f64, drawn: f64| if 0.0 < drawn { shown / drawn } else { 1.0 };
    let x_stretch = stretch(shown[2] - shown[0], most(xs) - least(xs));
    let y_stretch = stretch(shown[3] - shown[1], most(ys) - least(ys));
    let (x, y) = (shown[0] - least(xs) * x_stretch, shown[1] - least(ys) * y_stretch);
    Ok(Matrix::new([x_stretch, 0.0, 0.0, y_stretch, x, y]))
}

/// Left, bottom, right and top of a rectangle given by any two opposite corners.
fn corners(object: &Object) -> Option<[f64; 4]> {
    let numbers: Vec<f64> = object.array()?.iter().filter_map(Object::number).collect();
    let [a, b, c, d] = numbers[..] else { return None };
    Some([a.min(c), b.min(d), a.max(c), b.max(d)])
}
