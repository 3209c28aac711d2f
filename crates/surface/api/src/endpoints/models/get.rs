//! `GET /models/{id}`: one model, by its id, a trait or a compatible name.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::model_headers;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::messages::AnthropicModel;
use wire::models::Model;

use crate::endpoints::models::anthropic::{self, AnthropicVersion};
use crate::endpoints::models::record::build_record;

/// The path of one model.
#[derive(Debug, Deserialize, JsonSchema)]
struct ModelPath {
    /// The model's id, a trait, or a compatible name. It may contain slashes.
    #[schemars(length(min = 1))]
    id: String,
}

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/models/{*id}", get_model)
        .tag("Models")
        .summary("Show a model")
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
        .build()
}

/// A model in our form, or a text model in that of Anthropic's API.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum ModelDescription {
    Plain(Box<Model>),
    Anthropic(AnthropicModel),
}

async fn get_model(
    app: SharedApp,
    call: ApiCall<AnyCaller, (AnthropicVersion, PathParameters<ModelPath>)>,
) -> Result<WithHeaders<ModelDescription>, Refusal> {
    let (version, PathParameters(path)) = &call.input;
    let catalogue = app.catalogue.get();
    let resolved = catalogue.find_model(&path.id, call.now).map_err(refuse_model)?;
    let anthropic = version.is_sent.then(|| anthropic::build_model(resolved.model)).flatten();
    let description = match anthropic {
        Some(model) => ModelDescription::Anthropic(model),
        None => ModelDescription::Plain(Box::new(build_record(resolved.model, call.now))),
    };
    Ok(model_headers::write_model_headers(WithHeaders::new(description), &resolved))
}
