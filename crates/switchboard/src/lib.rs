//! Builds the engines from the operator's providers and models.
//!
//! Each provider becomes one upstream, whose models share its connections and its concurrency
//! limit; each model becomes a pool over its routes.

pub mod builtin;
pub mod composed;
pub mod dropped;
mod workflows;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::engines::EngineSet;
use composed::Composer;
use config::secret::Secret;
use config::sections::provider::{self, BUILT_IN, Provider, ProviderKind};
use domain::catalogue::{Capability, Model, ModelSpec};
use domain::entropy::Entropy;
use engine::{
    AttestedEngine, ChatEngine, EmbeddingEngine, ImageEngine, MediaEngine, PictureJudge,
    SpeechEngine, TranscriptionEngine,
};
use engine_upstream::{
    Concurrency, Dice, LocalProcess, MediaRoute, MediaRoutes, MediaWork, Pool, Protocol, Quirks,
    Route, SetupError, Thinking, Timeouts, Upstream, UpstreamSettings,
};
use moment::Clock;

/// Maximum completion tokens for protocols that require a number, if neither the caller nor the
/// catalogue gives one.
const COMPLETION_TOKENS_MAX: u64 = 4096;

const LOCAL_SILENCE_MAX: Duration = Duration::from_secs(600);
const LOCAL_REQUESTS_MAX: usize = 64;
const LOCAL_EMBEDDING_INPUTS_MAX: usize = 256;

/// Sources of time and randomness for engines.
#[derive(Clone)]
pub struct Ground {
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

/// Creates the engines of all models whose provider is configured. `local` is the engine process on
/// this machine, if there is one.
pub fn connect(
    providers: &[Provider],
    models: &[Model],
    local: Option<&LocalProcess>,
    ground: &Ground,
) -> Result<EngineSet, String> {
    let upstreams = upstreams(providers, local).map_err(|error| error.to_string())?;
    let mut engines = EngineSet::default();
    if let Some(upstream) = upstreams.get(BUILT_IN) {
        let judge = upstream.judge(builtin::SAFETY).map_err(|error| error.to_string())?;
        let route: Route<dyn PictureJudge> = Route::new(judge, upstream, builtin::SAFETY, 1);
        engines.set_judge(Arc::new(ground.pool(vec![route])));
    }
    let composer = Composer::default();
    for model in models {
        match &model.spec {
            ModelSpec::Text(text) => {
                let tokens_max = text.max_completion_tokens.unwrap_or(COMPLETION_TOKENS_MAX);
                let routes: Vec<Route<dyn ChatEngine>> =
                    routes(&upstreams, model, |upstream, id| upstream.chat(id, tokens_max))?;
                if !routes.is_empty() {
                    engines.add_chat(model, Arc::new(ground.pool(routes)));
                }
                if text.has(Capability::TeeAttestation) || text.has(Capability::E2ee) {
                    engines.add_attested(model, attested(&upstreams, model)?);
                }
            }
            ModelSpec::Embedding(_) => {
                let routes: Vec<Route<dyn EmbeddingEngine>> =
                    routes(&upstreams, model, Upstream::embeddings)?;
                if !routes.is_empty() {
                    engines.add_embedding(model, Arc::new(ground.pool(routes)));
                }
            }
            ModelSpec::Tts(_) => {
                let routes: Vec<Route<dyn SpeechEngine>> =
                    routes(&upstreams, model, Upstream::speech)?;
                if !routes.is_empty() {
                    engines.add_speech(model, Arc::new(ground.pool(routes)));
                }
            }
            ModelSpec::Asr(_) => {
                let routes: Vec<Route<dyn TranscriptionEngine>> =
                    routes(&upstreams, model, Upstream::transcription)?;
                if !routes.is_empty() {
                    engines.add_transcription(model, Arc::new(ground.pool(routes)));
                }
            }
            ModelSpec::Music(_) | ModelSpec::Video(_) => {
                let routes = media_routes(&upstreams, model, (providers, &composer))?;
                if !routes.is_empty() {
                    engines.add_media(model, Arc::new(MediaRoutes(routes)));
                }
            }
            ModelSpec::Image(_) | ModelSpec::Upscale(_) | ModelSpec::Inpaint(_) => {
                let workflow = workflows::read(model)?;
                let routes: Vec<Route<dyn ImageEngine>> =
                    routes(&upstreams, model, |upstream, id| {
                        upstream.images(id, workflow.as_ref())
                    })?;
                if !routes.is_empty() {
                    engines.add_images(model, Arc::new(ground.pool(routes)));
                }
            }
        }
    }
    Ok(engines)
}

/// Upstreams of the supported providers, by provider id.
fn upstreams<'a>(
    providers: &'a [Provider],
    local: Option<&LocalProcess>,
) -> Result<HashMap<&'a str, Upstream>, SetupError> {
    let mut upstreams = HashMap::new();
    if let Some(local) = local {
        upstreams.insert(BUILT_IN, Upstream::new(local_settings(BUILT_IN, local))?);
    }
    for provider in providers {
        let settings = match (provider.kind, local) {
            (ProviderKind::Local, Some(local)) => Some(local_settings(&provider.id, local)),
            _ => settings(provider),
        };
        if let Some(settings) = settings {
            upstreams.insert(provider.id.as_str(), Upstream::new(settings)?);
        }
    }
    Ok(upstreams)
}

/// Settings of the local engine. Its own queue limits concurrency. The timeout of the first event
/// is long, because a model may have to be loaded and a long prompt processed first.
fn local_settings(id: &str, local: &LocalProcess) -> UpstreamSettings {
    UpstreamSettings {
        id: id.to_owned(),
        protocol: Protocol::OpenAi(Quirks::BUILT_IN),
        base_url: "http://engine/v1".to_owned(),
        api_key: None,
        headers: Vec::new(),
        timeouts: Timeouts { first_event: LOCAL_SILENCE_MAX, ..Timeouts::default() },
        concurrency: Concurrency {
            requests_max: Some(LOCAL_REQUESTS_MAX),
            ..Concurrency::default()
        },
        embedding_inputs_max: LOCAL_EMBEDDING_INPUTS_MAX,
        bills_after_hangup: false,
        local: Some(local.clone()),
    }
}

fn settings(provider: &Provider) -> Option<UpstreamSettings> {
    let protocol = match provider.kind {
        ProviderKind::OpenAi => Protocol::OpenAi(Quirks::named(provider.dialect.name())?),
        ProviderKind::Anthropic => Protocol::Anthropic {
            thinking: match provider.thinking {
                provider::Thinking::Budget => Thinking::Budget,
                provider::Thinking::Adaptive => Thinking::Adaptive,
            },
            caches_system_prompt: provider.cache_system_prompt,
        },
        ProviderKind::SdCpp => Protocol::SdCpp,
        ProviderKind::AceStep => Protocol::AceStep,
        // Kokoro-FastAPI implements OpenAI's protocol with extensions.
        ProviderKind::Kokoro => Protocol::OpenAi(Quirks::VLLM),
        ProviderKind::A1111 => Protocol::A1111,
        ProviderKind::ComfyUi => Protocol::ComfyUi,
        ProviderKind::Fal => Protocol::Fal,
        ProviderKind::WhisperCpp => Protocol::WhisperCpp,
        ProviderKind::Local => return None,
    };
    let plain = |(name, value): &(String, Secret)| (name.clone(), value.expose().to_owned());
    Some(UpstreamSettings {
        id: provider.id.clone(),
        protocol,
        base_url: provider.base_url.clone()?,
        api_key: provider.api_key.as_ref().map(|key| key.expose().to_owned()),
        headers: provider.headers.iter().map(plain).collect(),
        timeouts: Timeouts {
            connect: provider.connect_timeout,
            answer: provider.timeout,
            first_event: provider.stream_timeout,
            next_event: provider.stream_timeout,
        },
        concurrency: Concurrency {
            requests_max: Some(provider.max_concurrency),
            ..Concurrency::default()
        },
        embedding_inputs_max: provider.max_embedding_inputs,
        bills_after_hangup: provider.bills_after_hangup,
        local: None,
    })
}

fn routes<E: ?Sized>(
    upstreams: &HashMap<&str, Upstream>,
    model: &Model,
    engine: impl Fn(&Upstream, &str) -> Result<Arc<E>, SetupError>,
) -> Result<Vec<Route<E>>, String> {
    let mut routes = Vec::new();
    for route in &model.routes {
        let Some(upstream) = upstreams.get(route.provider.as_str()) else { continue };
        let engine = engine(upstream, &route.upstream_id)
            .map_err(|error| format!("model {}: {error}", model.id))?;
        routes.push(Route::new(engine, upstream, &route.upstream_id, route.weight.get()));
    }
    Ok(routes)
}

/// The routes of a music or video model. Routes to providers without that ability are left out.
fn media_routes(
    upstreams: &HashMap<&str, Upstream>,
    model: &Model,
    (providers, composer): (&[Provider], &Composer),
) -> Result<Vec<MediaRoute>, String> {
    let work = match model.spec {
        ModelSpec::Music(_) => MediaWork::Music,
        _ => MediaWork::Video,
    };
    let workflow = workflows::read(model)?;
    let is_built_in = |id: &str| {
        let named = providers.iter().find(|provider| provider.id == id);
        id == BUILT_IN || named.is_some_and(|provider| provider.kind == ProviderKind::Local)
    };
    let mut routes = Vec::new();
    for route in &model.routes {
        let composes = work == MediaWork::Music && route.upstream_id == composed::COMPOSER;
        let engine: Option<Arc<dyn MediaEngine>> = if is_built_in(&route.provider) && composes {
            Some(Arc::new(composer.clone()))
        } else if let Some(upstream) = upstreams.get(route.provider.as_str()) {
            let engine = upstream.media(&route.upstream_id, work, workflow.as_ref());
            engine.map_err(|error| format!("model {}: {error}", model.id))?
        } else {
            None
        };
        let provider = route.provider.clone();
        routes.extend(engine.map(|engine| MediaRoute { provider, engine }));
    }
    Ok(routes)
}

/// One attested engine per route. None is selected here, because the caller must see which enclave
/// answers.
fn attested(
    upstreams: &HashMap<&str, Upstream>,
    model: &Model,
) -> Result<Vec<Arc<dyn AttestedEngine>>, String> {
    let mut engines = Vec::new();
    for route in &model.routes {
        let Some(upstream) = upstreams.get(route.provider.as_str()) else { continue };
        let engine = upstream.attested(&route.upstream_id);
        engines.push(engine.map_err(|error| format!("model {}: {error}", model.id))?);
    }
    Ok(engines)
}

impl Ground {
    fn pool<E: ?Sized>(&self, routes: Vec<Route<E>>) -> Pool<E> {
        let entropy = Arc::clone(&self.entropy);
        let dice: Dice = Arc::new(move || {
            let mut bytes = [0; 8];
            entropy.fill(&mut bytes);
            u64::from_le_bytes(bytes)
        });
        Pool::new(routes, Arc::clone(&self.clock), dice)
    }
}
