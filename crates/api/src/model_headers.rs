//! The headers that say which model answered, and that the one asked for is on its way out.

use domain::catalogue::{Capability, Resolved};

use crate::reply::Answer;

pub(crate) fn write<T>(answer: Answer<T>, resolved: &Resolved<'_>) -> Answer<T> {
    let model = resolved.model;
    let answer =
        answer.header("x-service-model-id", &model.id).header("x-service-model-name", &model.name);
    let is_attested = model.text().is_some_and(|text| text.has(Capability::TeeAttestation));
    let answer = match model.routes.first() {
        Some(route) if is_attested => {
            answer.header("x-service-tee", "true").header("x-service-tee-provider", &route.provider)
        }
        _ => answer,
    };
    let Some(deprecated) = &resolved.deprecated else { return answer };
    let answer = answer
        .header("x-service-model-deprecation-warning", deprecated.warning())
        .header("x-service-model-deprecation-date", deprecated.date())
        .header("x-service-deprecated", "true");
    match deprecated.replacement {
        Some(id) => answer.header("x-service-deprecated-replacement", id),
        None => answer,
    }
}
