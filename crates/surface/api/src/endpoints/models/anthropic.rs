//! Models in the form of Anthropic's API, for clients that send its version header.

use axum::body::Body;
use axum::http::request::Parts;
use domain::catalogue::{CatalogueModel, ModelSelection, ModelType};
use http_frame::app::AppState;
use http_frame::input::{BodyLimits, HandlerInput, InputRejection};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::refusal::anthropic_error::VERSION_HEADER;
use moment::Timestamp;
use schema_check::ValidationFaults;
use schemars::SchemaGenerator;
use serde_json::json;
use wire::messages::{AnthropicModel, AnthropicModelKind, ModelPage};
use wire::models::ModelListQuery;

use crate::endpoints::messages::answer_tokens_max;

const LIMIT_DEFAULT: usize = 20;

/// The presence of the header `anthropic-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnthropicVersion {
    pub(super) is_sent: bool,
}

impl HandlerInput for AnthropicVersion {
    type Raw = bool;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<bool, Refusal> {
        Ok(parts.headers.contains_key(VERSION_HEADER))
    }

    fn check(is_sent: bool) -> Result<AnthropicVersion, InputRejection> {
        Ok(AnthropicVersion { is_sent })
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        let description = "Any value: the response has the form of Anthropic's API.";
        operation.header(VERSION_HEADER, description, json!({ "type": "string" }));
    }
}

/// One page of the text models.
pub(super) fn build_page(
    app: &AppState,
    query: &ModelListQuery,
    now: Timestamp,
) -> Result<ModelPage, Refusal> {
    let catalogue = app.catalogue.get();
    let all = catalogue.list(ModelSelection::Type(ModelType::Text), now);
    let models: Vec<AnthropicModel> = all.filter_map(|model| build_model(model)).collect();
    let mut faults = ValidationFaults::default();
    if query.after_id.is_some() && query.before_id.is_some() {
        faults.at(["before_id"]).push("Send `after_id` or `before_id`, not both");
    }
    let mut find = |field: &'static str, id: &Option<String>| {
        let id = id.as_ref()?;
        let found = models.iter().position(|model| model.id == *id);
        if found.is_none() {
            faults.at([field]).push("There is no such model");
        }
        found
    };
    let (after, before) = (find("after_id", &query.after_id), find("before_id", &query.before_id));
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let limit = query.limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(LIMIT_DEFAULT);
    let (start, end) = match (after, before) {
        (_, Some(before)) => (before.saturating_sub(limit), before),
        (Some(after), None) => (after + 1, (after + 1).saturating_add(limit)),
        (None, None) => (0, limit),
    };
    let has_more = if before.is_some() { 0 < start } else { end < models.len() };
    let data: Vec<AnthropicModel> =
        models.into_iter().skip(start).take(end.saturating_sub(start)).collect();
    Ok(ModelPage {
        has_more,
        first_id: data.first().map(|model| model.id.clone()),
        last_id: data.last().map(|model| model.id.clone()),
        data,
    })
}

/// None for a model that is no text model.
pub(super) fn build_model(model: &CatalogueModel) -> Option<AnthropicModel> {
    let text = model.text_spec()?;
    Some(AnthropicModel {
        kind: AnthropicModelKind::Model,
        id: model.id.clone(),
        display_name: model.name.clone(),
        created_at: model.created.unwrap_or_default().to_string(),
        max_input_tokens: text.context_tokens,
        max_tokens: answer_tokens_max(text),
    })
}
