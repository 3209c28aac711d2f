//! `POST /video/quote`: returns the price of a video.

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
use schema_check::ValidationFaults;
use wire::audio::Quote;
use wire::video::VideoQuoteRequest;

use super::request;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/video/quote", quote_video)
        .tag("Video")
        .summary("Get the price of a video")
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
        .build()
}

async fn quote_video(
    app: SharedApp,
    call: ApiCall<AnyCaller, JsonBody<VideoQuoteRequest>>,
) -> Result<WithHeaders<Quote>, Refusal> {
    let JsonBody(body) = call.input;
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve_model(&body.model, ModelType::Video, call.now);
    let resolved = resolved.and_then(|it| it.check_region(call.country)).map_err(refuse_model)?;
    let ModelSpec::Video(spec) = &resolved.model.spec else {
        return Err(Refusal::internal("a video model without its specification"));
    };
    let mut faults = ValidationFaults::default();
    request::check_duration(body.duration, spec, &mut faults);
    // Options that the model does not have are ignored here, since they do not change the price.
    let resolution = body.resolution.filter(|_| !spec.resolutions.is_empty());
    let resolution = request::choose_resolution(resolution, spec, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let has_audio = request::has_audio(body.audio.filter(|_| spec.audio_configurable), spec);
    let lines = spec.price.lines(body.duration.seconds(), resolution.as_deref(), has_audio);
    let lines: Vec<_> = lines.iter().map(|line| (line.units, line.rate)).collect();
    Ok(WithHeaders::new(Quote { quote: WorkCost::sum_lines(&lines).usd.as_f64() }))
}
