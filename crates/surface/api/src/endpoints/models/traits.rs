//! `GET /models/traits`: maps traits to models.

use wire::models::{ListObject, ModelTraits, ModelsQuery};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::AnyCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::models::to_selection;
use crate::input::QueryParameters;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

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
