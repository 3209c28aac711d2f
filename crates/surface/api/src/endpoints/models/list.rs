//! `GET /models`: lists the models.

use wire::models::{ListObject, ModelList, ModelsQuery};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::AnyCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::models::record::build_record;
use crate::endpoints::models::to_selection;
use crate::input::QueryParameters;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/models", list_models).tag("Models").summary("List models").build()
}

async fn list_models(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<ModelsQuery>>,
) -> Result<WithHeaders<ModelList>, Refusal> {
    let QueryParameters(query) = call.input;
    let catalogue = app.catalogue.get();
    let models = catalogue.list(to_selection(query.filter), call.now);
    let data = models.map(|model| build_record(model, call.now)).collect();
    Ok(WithHeaders::new(ModelList { object: ListObject::List, filter: query.filter, data }))
}
