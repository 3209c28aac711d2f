//! Annotations of a page: values of form fields, and visible notes.

use super::content::{ContentInterpreter, matrix_of};
use super::matrix::AffineMatrix;
use super::object::{PdfDict, PdfObject, PdfStream};
use crate::fault::DocumentReadError;

/// Maximum per page.
const ANNOTATIONS_MAX: usize = 5_000;
/// Flag bits of annotations that are not shown: hidden, and no view.
const HIDDEN: usize = 0b10_0010;
/// Cost of an annotation, in steps.
const ANNOTATION_STEPS: usize = 64;

pub(super) fn draw_annotations(
    painter: &mut ContentInterpreter<'_, '_>,
    page: &PdfDict,
) -> Result<(), DocumentReadError> {
    let annotations = painter.file.get(page, "Annots")?;
    let Some(annotations) = annotations.as_array() else { return Ok(()) };
    for annotation in annotations.iter().take(ANNOTATIONS_MAX) {
        painter.file.effort.spend(ANNOTATION_STEPS)?;
        let annotation = painter.file.resolve(annotation)?;
        let Some(annotation) = annotation.as_dict() else { continue };
        let is_hidden = annotation.raw("F").as_index().unwrap_or(0) & HIDDEN != 0;
        let is_popup = annotation.raw("Subtype").as_name() == Some(b"Popup");
        if is_hidden || is_popup {
            continue;
        }
        if let Some(stream) = find_appearance(painter, annotation)? {
            let place = compute_matrix(painter, annotation, &stream)?;
            painter.draw_separately(&stream, place)?;
        }
    }
    Ok(())
}

/// The current appearance stream. Check boxes have one per state.
fn find_appearance(
    painter: &mut ContentInterpreter<'_, '_>,
    annotation: &PdfDict,
) -> Result<Option<PdfStream>, DocumentReadError> {
    let looks = painter.file.get_dict(annotation, "AP")?;
    let look = match painter.file.get(&looks, "N")? {
        PdfObject::Dict(states) => {
            let state = painter.file.get(annotation, "AS")?;
            painter.file.resolve(states.raw_bytes(state.as_name().unwrap_or_default()))?
        }
        look => look,
    };
    Ok(match look {
        PdfObject::Stream(stream) => Some(stream),
        _ => None,
    })
}

/// The matrix that maps the appearance's bounding box to the annotation's rectangle.
fn compute_matrix(
    painter: &mut ContentInterpreter<'_, '_>,
    annotation: &PdfDict,
    stream: &PdfStream,
) -> Result<AffineMatrix, DocumentReadError> {
    let shown = painter.file.get(annotation, "Rect")?;
    let drawn = painter.file.get(&stream.dict, "BBox")?;
    let matrix = painter.file.get(&stream.dict, "Matrix")?;
    let matrix = matrix.as_array().and_then(|it| matrix_of(it)).unwrap_or(AffineMatrix::SAME);
    let (Some(shown), Some(drawn)) = (parse_rectangle(&shown), parse_rectangle(&drawn)) else {
        return Ok(AffineMatrix::SAME);
    };
    let [left, bottom, right, top] = drawn;
    let places = [(left, bottom), (left, top), (right, bottom), (right, top)];
    let places = places.map(|(x, y)| matrix.transform_point(x, y));
    let least = |values: [f64; 4]| values.into_iter().fold(f64::INFINITY, f64::min);
    let most = |values: [f64; 4]| values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let (xs, ys) = (places.map(|it| it.x), places.map(|it| it.y));
    let stretch = |shown: f64, drawn: f64| if 0.0 < drawn { shown / drawn } else { 1.0 };
    let x_stretch = stretch(shown[2] - shown[0], most(xs) - least(xs));
    let y_stretch = stretch(shown[3] - shown[1], most(ys) - least(ys));
    let (x, y) = (shown[0] - least(xs) * x_stretch, shown[1] - least(ys) * y_stretch);
    Ok(AffineMatrix::new([x_stretch, 0.0, 0.0, y_stretch, x, y]))
}

/// Left, bottom, right and top of a rectangle given by any two opposite corners.
fn parse_rectangle(object: &PdfObject) -> Option<[f64; 4]> {
    let numbers: Vec<f64> = object.as_array()?.iter().filter_map(PdfObject::as_number).collect();
    let [a, b, c, d] = numbers[..] else { return None };
    Some([a.min(c), b.min(d), a.max(c), b.max(d)])
}
