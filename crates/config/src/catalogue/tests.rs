//! Tests of parsing `[[model]]`: TOML in, models or faults with their lines out.

mod faults;
mod reading;

use domain::catalogue::Model;

use super::read;
use crate::fault::Faults;
use crate::node::parse;

const PROVIDERS: &[&str] = &["main", "spare"];

/// Returns the models, and the faults as shown to the operator.
fn outcome(text: &str) -> (Vec<Model>, String) {
    let faults = Faults::default();
    let table = parse("models.toml", text, &faults);
    let models = read(&table, PROVIDERS, &faults);
    let lines = faults.into_sorted().into_iter().map(|fault| format!("{fault}\n"));
    (models, lines.collect())
}

#[track_caller]
fn only_model(text: &str) -> Model {
    let (models, faults) = outcome(text);
    assert_eq!(faults, "");
    models.into_iter().next().expect("one model")
}
