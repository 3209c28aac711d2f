//! `GET /models`: lists the models.

use schemars::JsonSchema;
use serde::Serialize;
use wire::messages::ModelPage;
use wire::models::{ListObject, ModelList, ModelListQuery};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::AnyCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::models::anthropic::{self, AnthropicVersion};
use crate::endpoints::models::record::build_record;
use crate::endpoints::models::to_selection;
use crate::input::QueryParameters;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

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
