//! The headers that say which model answered, and that the one asked for is on its way out.

use domain::catalogue::Resolved;

use crate::reply::Answer;

pub(crate) fn write<T>(answer: Answer<T>, resolved: &Resolved<'_>) -> Answer<T> {
    let model = resolved.model;
    let answer =
        answer.header("x-service-model-id", &model.id).header("x-service-model-name", &model.name);
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
