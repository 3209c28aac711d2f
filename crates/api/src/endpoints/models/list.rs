//! `GET /models`: lists the models.

use wire::models::{ListObject, ModelList, ModelsQuery};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Anyone;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::models::record::record;
use crate::endpoints::models::selection;
use crate::input::Query;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/models", list_models).tag("Models").summary("List models").build()
}

async fn list_models(
    app: Shared,
    call: Call<Anyone, Query<ModelsQuery>>,
) -> Result<WithHeaders<ModelList>, Refusal> {
    let Query(query) = call.input;
    let catalogue = app.catalogue.get();
    let models = catalogue.list(selection(query.filter), call.now);
    let data = models.map(|model| record(model, call.now)).collect();
    Ok(WithHeaders::new(ModelList { object: ListObject::List, filter: query.filter, data }))
}
