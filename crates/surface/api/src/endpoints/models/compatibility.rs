//! `GET /models/compatibility_mapping`: maps names of other services' models to ours.

use domain::catalogue::ModelType;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::models::{CompatibilityMapping, CompatibilityQuery, ListObject, ModelType as WireType};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/models/compatibility_mapping", list_compatibility_mapping)
        .tag("Models")
        .summary("List compatible model names")
        .build()
}

async fn list_compatibility_mapping(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<CompatibilityQuery>>,
) -> Result<WithHeaders<CompatibilityMapping>, Refusal> {
    let QueryParameters(query) = call.input;
    let catalogue = app.catalogue.get();
    let mapping = catalogue.models_by_alias(model_type(query.model_type), call.now);
    let data = mapping.into_iter().map(|(name, id)| (name.to_owned(), id.to_owned())).collect();
    let model_type = query.model_type;
    Ok(WithHeaders::new(CompatibilityMapping { data, object: ListObject::List, model_type }))
}

fn model_type(wanted: WireType) -> ModelType {
    match wanted {
        WireType::Asr => ModelType::Asr,
        WireType::Embedding => ModelType::Embedding,
        WireType::Image => ModelType::Image,
        WireType::Music => ModelType::Music,
        WireType::Text => ModelType::Text,
        WireType::Tts => ModelType::Tts,
        WireType::Upscale => ModelType::Upscale,
        WireType::Inpaint => ModelType::Inpaint,
        WireType::Video => ModelType::Video,
        WireType::Rerank => ModelType::Rerank,
        WireType::Moderation => ModelType::Moderation,
    }
}
