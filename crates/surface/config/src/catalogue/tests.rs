//! Tests of parsing `[[model]]`: TOML in, models or faults with their lines out.

mod faults;
mod reading;

use domain::catalogue::CatalogueModel;

use super::read_models;
use crate::fault::FaultList;
use crate::node::parse_toml;

const PROVIDERS: &[&str] = &["main", "spare"];

/// Returns the models, and the faults as shown to the operator.
fn outcome(text: &str) -> (Vec<CatalogueModel>, String) {
    let faults = FaultList::default();
    let table = parse_toml("models.toml", text, &faults);
    let models = read_models(&table, PROVIDERS, &faults);
    let lines = faults.into_sorted().into_iter().map(|fault| format!("{fault}\n"));
    (models, lines.collect())
}

#[track_caller]
fn only_model(text: &str) -> CatalogueModel {
    let (models, faults) = outcome(text);
    assert_eq!(faults, "");
    models.into_iter().next().expect("one model")
}
