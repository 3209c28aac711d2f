//! `GET /models`: lists the models.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schemars::JsonSchema;
use serde::Serialize;
use wire::messages::ModelPage;
use wire::models::{ListObject, ModelList, ModelListQuery};

use crate::endpoints::models::anthropic::{self, AnthropicVersion};
use crate::endpoints::models::record::build_record;
use crate::endpoints::models::to_selection;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/models", list_models).tag("Models").summary("List models").build()
}

/// The list in our form, or in that of Anthropic's API.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum ModelListing {
    Plain(ModelList),
    Anthropic(ModelPage),
}

async fn list_models(
    app: SharedApp,
    call: ApiCall<AnyCaller, (AnthropicVersion, QueryParameters<ModelListQuery>)>,
) -> Result<WithHeaders<ModelListing>, Refusal> {
    let (version, QueryParameters(query)) = call.input;
    if version.is_sent {
        let page = anthropic::build_page(&app, &query, call.now)?;
        return Ok(WithHeaders::new(ModelListing::Anthropic(page)));
    }
    let catalogue = app.catalogue.get();
    let models = catalogue.list(to_selection(query.filter), call.now);
    let data = models.map(|model| build_record(model, call.now)).collect();
    let list = ModelList { object: ListObject::List, filter: query.filter, data };
    Ok(WithHeaders::new(ModelListing::Plain(list)))
}
