//! Builds the engines from the operator's providers and models.
//!
//! Each provider becomes one upstream, whose models share its connections and its concurrency
//! limit; each model becomes a pool over its routes.

pub mod builtin;
pub mod composer_engine;
pub mod gguf_models;
mod workflows;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use composer_engine::ComposerEngine;
use config::secret::SecretString;
use config::sections::provider::{self, BUILT_IN, ProviderConfig, ProviderKind};
use domain::catalogue::{CatalogueModel, ModelSpec, TextCapability, TextSpec};
use domain::entropy::EntropySource;
use engine::{
    AttestedEngine, ChatEngine, EmbeddingEngine, ImageClassifier, ImageEngine, MediaEngine,
    ModerationEngine, RerankEngine, SpeechEngine, TranscriptionEngine,
};
use engine_upstream::{
    ChatModelSettings, ConcurrencyLimits, EngineRoute, LocalProcess, MediaRoute, MediaRoutes,
    MediaWork, OpenAiChatApi, ProviderProtocol, ProviderSetupError, RandomSource, RoutePool,
    ServerQuirks, ThinkingStyle, UpstreamProvider, UpstreamSettings, UpstreamTimeouts,
};
use http::HeaderMap;
use http_frame::engines::EngineSet;
use moment::Clock;

/// Maximum completion tokens for protocols that require a number, if neither the caller nor the
/// catalogue gives one.
const COMPLETION_TOKENS_MAX: u64 = 4096;

const LOCAL_SILENCE_MAX: Duration = Duration::from_secs(600);
const LOCAL_REQUESTS_MAX: usize = 64;
const LOCAL_EMBEDDING_INPUTS_MAX: usize = 256;

/// Sources of time and randomness for engines.
#[derive(Clone)]
pub struct EngineEnvironment {
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn EntropySource>,
}

/// Creates the engines of all models whose provider is configured. `local` is the engine process on
/// this machine, if there is one.
pub fn connect_engines(
    providers: &[ProviderConfig],
    models: &[CatalogueModel],
    local: Option<&LocalProcess>,
    ground: &EngineEnvironment,
) -> Result<EngineSet, String> {
    let upstreams = build_upstreams(providers, local).map_err(|error| error.to_string())?;
    let mut engines = EngineSet::default();
    if let Some(upstream) = upstreams.get(BUILT_IN) {
        let judge =
            upstream.create_image_classifier(builtin::SAFETY).map_err(|error| error.to_string())?;
        let route: EngineRoute<dyn ImageClassifier> =
            EngineRoute::new(judge, upstream, builtin::SAFETY, 1);
        engines.set_image_classifier(Arc::new(ground.build_pool(vec![route])));
    }
    let composer = ComposerEngine::default();
    for model in models {
        match &model.spec {
            ModelSpec::Text(text) => {
                let routes: Vec<EngineRoute<dyn ChatEngine>> =
                    build_routes(&upstreams, model, |upstream, id| {
                        upstream.create_model_engine(chat_settings(text, id))
                    })?;
                if !routes.is_empty() {
                    engines.add_chat(model, Arc::new(ground.build_pool(routes)));
                }
                if text.has_capability(TextCapability::TeeAttestation)
                    || text.has_capability(TextCapability::E2ee)
                {
                    engines.add_attested(model, build_attested_engines(&upstreams, model)?);
                }
            }
            ModelSpec::Embedding(_) => {
                let routes: Vec<EngineRoute<dyn EmbeddingEngine>> =
                    build_routes(&upstreams, model, UpstreamProvider::create_embedding_engine)?;
                if !routes.is_empty() {
                    engines.add_embedding(model, Arc::new(ground.build_pool(routes)));
                }
            }
            ModelSpec::Tts(_) => {
                let routes: Vec<EngineRoute<dyn SpeechEngine>> =
                    build_routes(&upstreams, model, UpstreamProvider::create_speech_engine)?;
                if !routes.is_empty() {
                    engines.add_speech(model, Arc::new(ground.build_pool(routes)));
                }
            }
            ModelSpec::Asr(_) => {
                let routes: Vec<EngineRoute<dyn TranscriptionEngine>> =
                    build_routes(&upstreams, model, UpstreamProvider::create_transcription_engine)?;
                if !routes.is_empty() {
                    engines.add_transcription(model, Arc::new(ground.build_pool(routes)));
                }
            }
            ModelSpec::Rerank(_) | ModelSpec::Moderation(_) => {
                add_score_engine(&mut engines, &upstreams, model, ground)?;
            }
            ModelSpec::Music(_) | ModelSpec::Video(_) => {
                let routes = media_routes(&upstreams, model, providers, &composer)?;
                if !routes.is_empty() {
                    engines.add_media(model, Arc::new(MediaRoutes(routes)));
                }
            }
            ModelSpec::Image(_) | ModelSpec::Upscale(_) | ModelSpec::Inpaint(_) => {
                let workflow = workflows::read_workflow(model)?;
                let routes: Vec<EngineRoute<dyn ImageEngine>> =
                    build_routes(&upstreams, model, |upstream, id| {
                        upstream.create_image_engine(id, workflow.as_ref())
                    })?;
                if !routes.is_empty() {
                    engines.add_images(model, Arc::new(ground.build_pool(routes)));
                }
            }
        }
    }
    Ok(engines)
}

/// Adds the engine of a rerank or moderation model.
fn add_score_engine(
    engines: &mut EngineSet,
    upstreams: &HashMap<&str, UpstreamProvider>,
    model: &CatalogueModel,
    ground: &EngineEnvironment,
) -> Result<(), String> {
    if let ModelSpec::Rerank(_) = &model.spec {
        let routes: Vec<EngineRoute<dyn RerankEngine>> =
            build_routes(upstreams, model, UpstreamProvider::create_rerank_engine)?;
        if !routes.is_empty() {
            engines.add_rerank(model, Arc::new(ground.build_pool(routes)));
        }
        return Ok(());
    }
    let routes: Vec<EngineRoute<dyn ModerationEngine>> =
        build_routes(upstreams, model, UpstreamProvider::create_moderation_engine)?;
    if !routes.is_empty() {
        engines.add_moderation(model, Arc::new(ground.build_pool(routes)));
    }
    Ok(())
}

fn chat_settings<'a>(text: &TextSpec, upstream_id: &'a str) -> ChatModelSettings<'a> {
    ChatModelSettings {
        upstream_id,
        completion_tokens_max: text.max_completion_tokens.unwrap_or(COMPLETION_TOKENS_MAX),
        has_reasoning: text.has_capability(TextCapability::Reasoning)
            || text.has_capability(TextCapability::ReasoningEffort),
    }
}

/// Upstreams of the supported providers, by provider id.
fn build_upstreams<'a>(
    providers: &'a [ProviderConfig],
    local: Option<&LocalProcess>,
) -> Result<HashMap<&'a str, UpstreamProvider>, ProviderSetupError> {
    let mut upstreams = HashMap::new();
    if let Some(local) = local {
        upstreams.insert(BUILT_IN, UpstreamProvider::new(local_settings(BUILT_IN, local))?);
    }
    for provider in providers {
        let settings = match (provider.kind, local) {
            (ProviderKind::Local, Some(local)) => Some(local_settings(&provider.id, local)),
            _ => build_settings(provider),
        };
        if let Some(settings) = settings {
            upstreams.insert(provider.id.as_str(), UpstreamProvider::new(settings)?);
        }
    }
    Ok(upstreams)
}

/// Settings of the local engine. Its own queue limits concurrency. The timeout of the first event
/// is long, because a model may have to be loaded and a long prompt processed first.
fn local_settings(id: &str, local: &LocalProcess) -> UpstreamSettings {
    UpstreamSettings {
        id: id.to_owned(),
        protocol: ProviderProtocol::OpenAi(ServerQuirks::BUILT_IN),
        base_url: "http://engine/v1".to_owned(),
        api_key: None,
        headers: Vec::new(),
        timeouts: UpstreamTimeouts {
            first_event: LOCAL_SILENCE_MAX,
            ..UpstreamTimeouts::default()
        },
        concurrency: ConcurrencyLimits {
            requests_max: Some(LOCAL_REQUESTS_MAX),
            ..ConcurrencyLimits::default()
        },
        embedding_inputs_max: LOCAL_EMBEDDING_INPUTS_MAX,
        bills_after_hangup: false,
        local: Some(local.clone()),
    }
}

/// The API key and the other headers of every request to a provider; none for the built-in engine.
pub fn build_provider_headers(provider: &ProviderConfig) -> Result<HeaderMap, ProviderSetupError> {
    build_settings(provider).map_or_else(|| Ok(HeaderMap::new()), |it| it.build_headers())
}

fn build_settings(provider: &ProviderConfig) -> Option<UpstreamSettings> {
    let protocol = match provider.kind {
        ProviderKind::OpenAi => {
            let quirks = ServerQuirks::from_name(provider.dialect.name())?;
            let chat_api = match provider.api {
                provider::ChatApiSetting::Chat => OpenAiChatApi::Completions,
                provider::ChatApiSetting::Responses => OpenAiChatApi::Responses,
            };
            ProviderProtocol::OpenAi(ServerQuirks { chat_api, ..quirks })
        }
        ProviderKind::Anthropic => ProviderProtocol::Anthropic {
            thinking: match provider.thinking {
                provider::ThinkingSetting::Budget => ThinkingStyle::Budget,
                provider::ThinkingSetting::Adaptive => ThinkingStyle::Adaptive,
            },
            caches_system_prompt: provider.cache_system_prompt,
        },
        ProviderKind::SdCpp => ProviderProtocol::SdCpp,
        ProviderKind::AceStep => ProviderProtocol::AceStep,
        // Kokoro-FastAPI implements OpenAI's protocol with extensions.
        ProviderKind::Kokoro => ProviderProtocol::OpenAi(ServerQuirks::VLLM),
        ProviderKind::A1111 => ProviderProtocol::A1111,
        ProviderKind::ComfyUi => ProviderProtocol::ComfyUi,
        ProviderKind::Fal => ProviderProtocol::Fal,
        ProviderKind::WhisperCpp => ProviderProtocol::WhisperCpp,
        ProviderKind::Tei => ProviderProtocol::Tei,
        ProviderKind::Local => return None,
    };
    let plain = |(name, value): &(String, SecretString)| (name.clone(), value.expose().to_owned());
    Some(UpstreamSettings {
        id: provider.id.clone(),
        protocol,
        base_url: provider.base_url.clone()?,
        api_key: provider.api_key.as_ref().map(|key| key.expose().to_owned()),
        headers: provider.headers.iter().map(plain).collect(),
        timeouts: UpstreamTimeouts {
            connect: provider.connect_timeout,
            answer: provider.timeout,
            first_event: provider.stream_timeout,
            next_event: provider.stream_timeout,
        },
        concurrency: ConcurrencyLimits {
            requests_max: Some(provider.max_concurrency),
            ..ConcurrencyLimits::default()
        },
        embedding_inputs_max: provider.embedding_inputs_max(),
        bills_after_hangup: provider.bills_after_hangup,
        local: None,
    })
}

fn build_routes<E: ?Sized>(
    upstreams: &HashMap<&str, UpstreamProvider>,
    model: &CatalogueModel,
    engine: impl Fn(&UpstreamProvider, &str) -> Result<Arc<E>, ProviderSetupError>,
) -> Result<Vec<EngineRoute<E>>, String> {
    let mut routes = Vec::new();
    for route in &model.routes {
        let Some(upstream) = upstreams.get(route.provider.as_str()) else { continue };
        let engine = engine(upstream, &route.upstream_id)
            .map_err(|error| format!("model {}: {error}", model.id))?;
        routes.push(EngineRoute::new(engine, upstream, &route.upstream_id, route.weight.get()));
    }
    Ok(routes)
}

/// The routes of a music or video model. Routes to providers without that ability are left out.
fn media_routes(
    upstreams: &HashMap<&str, UpstreamProvider>,
    model: &CatalogueModel,
    providers: &[ProviderConfig],
    composer: &ComposerEngine,
) -> Result<Vec<MediaRoute>, String> {
    let work = match model.spec {
        ModelSpec::Music(_) => MediaWork::Music,
        _ => MediaWork::Video,
    };
    let workflow = workflows::read_workflow(model)?;
    let is_built_in = |id: &str| {
        let named = providers.iter().find(|provider| provider.id == id);
        id == BUILT_IN || named.is_some_and(|provider| provider.kind == ProviderKind::Local)
    };
    let mut routes = Vec::new();
    for route in &model.routes {
        let composes = work == MediaWork::Music && route.upstream_id == composer_engine::COMPOSER;
        let engine: Option<Arc<dyn MediaEngine>> = if is_built_in(&route.provider) && composes {
            Some(Arc::new(composer.clone()))
        } else if let Some(upstream) = upstreams.get(route.provider.as_str()) {
            let engine = upstream.create_media_engine(&route.upstream_id, work, workflow.as_ref());
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
fn build_attested_engines(
    upstreams: &HashMap<&str, UpstreamProvider>,
    model: &CatalogueModel,
) -> Result<Vec<Arc<dyn AttestedEngine>>, String> {
    let mut engines = Vec::new();
    for route in &model.routes {
        let Some(upstream) = upstreams.get(route.provider.as_str()) else { continue };
        let engine = upstream.create_attested_engine(&route.upstream_id);
        engines.push(engine.map_err(|error| format!("model {}: {error}", model.id))?);
    }
    Ok(engines)
}

impl EngineEnvironment {
    fn build_pool<E: ?Sized>(&self, routes: Vec<EngineRoute<E>>) -> RoutePool<E> {
        let entropy = Arc::clone(&self.entropy);
        let dice: RandomSource = Arc::new(move || {
            let mut bytes = [0; 8];
            entropy.fill_bytes(&mut bytes);
            u64::from_le_bytes(bytes)
        });
        RoutePool::new(routes, Arc::clone(&self.clock), dice)
    }
}
