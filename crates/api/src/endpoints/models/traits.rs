//! `GET /models/traits`: maps traits to models.

use wire::models::{ListObject, ModelTraits, ModelsQuery};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Anyone;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::models::selection;
use crate::input::Query;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/models/traits", list_model_traits)
        .tag("Models")
        .summary("List model traits")
        .build()
}

async fn list_model_traits(
    app: Shared,
    call: Call<Anyone, Query<ModelsQuery>>,
) -> Result<WithHeaders<ModelTraits>, Refusal> {
    let Query(query) = call.input;
    let catalogue = app.catalogue.get();
    let traits = catalogue.traits(selection(query.filter), call.now);
    let data = traits.into_iter().map(|(name, id)| (name.to_owned(), id.to_owned())).collect();
    Ok(WithHeaders::new(ModelTraits { data, object: ListObject::List, filter: query.filter }))
}
