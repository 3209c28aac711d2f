//! Response headers about the model: its id, name, providers and deprecation.

use axum::http::HeaderMap;
use domain::catalogue::{CatalogueModel, ResolvedModel, TextCapability};

use crate::paid_chat::RouteNotes;
use crate::reply::WithHeaders;

const ROUTER: &str = "x-service-model-router";

/// Writes the model's id and name, and the providers of its routes, unless [`write_notes`] has
/// already named the one that answered.
pub fn write_model_headers<T>(
    answer: WithHeaders<T>,
    resolved: &ResolvedModel<'_>,
) -> WithHeaders<T> {
    let model = resolved.model;
    let answer = write_identity(answer, model);
    let is_attested =
        model.text_spec().is_some_and(|text| text.has_capability(TextCapability::TeeAttestation));
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

/// The headers of [`write_model_headers`] for a response that has a body of another kind.
pub fn build_model_headers(resolved: &ResolvedModel<'_>) -> HeaderMap {
    write_model_headers(WithHeaders::new(()), resolved).into_headers()
}

/// Writes the three headers of every model's response.
pub(crate) fn write_identity<T>(answer: WithHeaders<T>, model: &CatalogueModel) -> WithHeaders<T> {
    let mut providers: Vec<&str> = Vec::new();
    for route in &model.routes {
        if !providers.contains(&route.provider.as_str()) {
            providers.push(&route.provider);
        }
    }
    answer
        .header("x-service-model-id", &model.id)
        .header("x-service-model-name", &model.name)
        .header_if_absent(ROUTER, providers.join(", "))
}

/// Writes the provider that answered, the ignored fields, and the fallback models that could not
/// take the request.
pub fn write_notes<T>(
    mut answer: WithHeaders<T>,
    notes: &RouteNotes,
    left_out: Option<&str>,
) -> WithHeaders<T> {
    if let Some(provider) = &notes.provider {
        answer = answer.header(ROUTER, provider);
    }
    if !notes.dropped.is_empty() {
        answer = answer.header("x-service-dropped-parameters", notes.dropped.join(", "));
    }
    match left_out {
        Some(models) => answer.header("x-service-fallbacks-left-out", models),
        None => answer,
    }
}
