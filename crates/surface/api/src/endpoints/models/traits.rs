//! `GET /models/traits`: maps traits to models.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::models::{ListObject, ModelTraits, ModelsQuery};

use crate::endpoints::models::to_selection;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/models/traits", list_model_traits)
        .tag("Models")
        .summary("List model traits")
        .build()
}

async fn list_model_traits(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<ModelsQuery>>,
) -> Result<WithHeaders<ModelTraits>, Refusal> {
    let QueryParameters(query) = call.input;
    let catalogue = app.catalogue.get();
    let traits = catalogue.models_by_trait(to_selection(query.filter), call.now);
    let data = traits.into_iter().map(|(name, id)| (name.to_owned(), id.to_owned())).collect();
    Ok(WithHeaders::new(ModelTraits { data, object: ListObject::List, filter: query.filter }))
}
