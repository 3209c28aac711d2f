//! `POST /audio/quote`: returns the price of a piece of music.

use domain::catalogue::{ModelSpec, ModelType};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use money::WorkCost;
use wire::audio::{AudioQuoteRequest, Quote};

use super::music;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/quote", quote_audio)
        .tag("Audio")
        .summary("Get the price of a piece of music")
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
        .build()
}

async fn quote_audio(
    app: SharedApp,
    call: ApiCall<AnyCaller, JsonBody<AudioQuoteRequest>>,
) -> Result<WithHeaders<Quote>, Refusal> {
    let JsonBody(body) = call.input;
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve_model(&body.model, ModelType::Music, call.now);
    let resolved = resolved.and_then(|it| it.check_region(call.country)).map_err(refuse_model)?;
    let ModelSpec::Music(spec) = &resolved.model.spec else {
        return Err(Refusal::internal("a music model without its specification"));
    };
    let duration_s = music::quoted_duration(body.duration_seconds.as_ref(), spec)?;
    let line = music::build_price_line(spec, duration_s, body.character_count)?;
    let cost = WorkCost::sum_lines(&[(line.units, line.rate)]);
    Ok(WithHeaders::new(Quote { quote: cost.usd.as_f64() }))
}
