//! Several routes to one model as one engine: load balancing, circuit breaking and failover.

mod affinity;
mod backoff;
mod breaker;
mod choice;
mod lease;
mod provider_queue;
mod whole_answers;

use std::future::Future;
use std::sync::Arc;

use engine::{
    ChatAnswer, ChatEngine, ChatEvent, ChatRequest, ChatStream, CutOutRequest, EditRequest,
    EngineError, ImageAnswer, ImageClassifier, ImageEngine, ImageFile, ImageFuture, ImageRequest,
    NativeProtocol, SessionId, SoundStream, SpeechEngine, SpeechRequest, UpscaleRequest,
    VoiceSample,
};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use moment::Clock;
use tracing::warn;

pub(crate) use provider_queue::ProviderQueue;

pub use breaker::RouteHealth;

use crate::UpstreamProvider;
use crate::anthropic;
use crate::upstream::ReadinessCheck;
use choice::{RouteCandidate, select_route};
use lease::{RouteLease, RouteState};

/// Source of random numbers for retry jitter and ties.
pub type RandomSource = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Few, because each further attempt may be billed by a provider.
const ATTEMPTS_MAX: u32 = 4;

/// An engine over several routes. Fails over to another route while nothing has been produced.
pub struct RoutePool<E: ?Sized> {
    routes: Vec<EngineRoute<E>>,
    clock: Arc<dyn Clock>,
    dice: RandomSource,
}

/// One provider's engine for a model.
pub struct EngineRoute<E: ?Sized> {
    engine: Arc<E>,
    gate: Arc<ProviderQueue>,
    readiness: Option<ReadinessCheck>,
    track: Arc<RouteState>,
}

/// The state of a route, for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReport {
    pub provider: Arc<str>,
    pub model: Arc<str>,
    pub outstanding: u32,
    pub health: RouteHealth,
}

impl<E: ?Sized> EngineRoute<E> {
    /// `weight` is the share of the load; a route of weight 0 is a standby for the others.
    pub fn new(
        engine: Arc<E>,
        upstream: &UpstreamProvider,
        model: &str,
        weight: u32,
    ) -> EngineRoute<E> {
        let state = RouteState::new(upstream.serving_provider(model), weight, upstream.own_host());
        let track = Arc::new(state);
        EngineRoute {
            engine,
            gate: upstream.provider_queue(),
            readiness: upstream.readiness(),
            track,
        }
    }
}

impl<E: ?Sized> RoutePool<E> {
    pub fn new(
        routes: Vec<EngineRoute<E>>,
        clock: Arc<dyn Clock>,
        dice: RandomSource,
    ) -> RoutePool<E> {
        RoutePool { routes, clock, dice }
    }

    pub fn reports(&self) -> Vec<RouteReport> {
        let now = self.clock.now();
        self.routes.iter().map(|route| route.track.report(now)).collect()
    }

    /// Tries routes until one succeeds; returns its result and the lease of the route.
    async fn try_routes<'a, T, F>(
        &'a self,
        call: impl Fn(&'a E) -> F,
    ) -> Result<(T, RouteLease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        let tries = vec![RouteAttempts::default(); self.routes.len()];
        self.try_eligible_routes(RouteSearch { tries, session: None }, call).await
    }

    /// As [`RoutePool::try_routes`], with routes that are excluded from the start.
    async fn try_eligible_routes<'a, T, F>(
        &'a self,
        mut search: RouteSearch,
        call: impl Fn(&'a E) -> F,
    ) -> Result<(T, RouteLease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        let mut failure: Option<EngineError> = None;
        for attempt in 0..ATTEMPTS_MAX {
            let Some(position) = self.choose_route(&search) else { break };
            if 0 < attempt {
                tokio::time::sleep(backoff::retry_delay(attempt, (self.dice)())).await;
            }
            let error = match self.call_route(&self.routes[position], &call).await {
                Ok(given) => return Ok(given),
                Err(error) if !error.may_fail_over() => return Err(error),
                Err(error) => error,
            };
            search.tries[position].count += 1;
            search.tries[position].is_spent = !error.may_retry_same_engine();
            failure = Some(match failure {
                Some(before) => choice::more_useful_error(before, error),
                None => error,
            });
        }
        Err(failure.unwrap_or_else(|| self.all_routes_unavailable()))
    }

    async fn call_route<'a, T, F>(
        &'a self,
        route: &'a EngineRoute<E>,
        call: &impl Fn(&'a E) -> F,
    ) -> Result<(T, RouteLease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        // Not being ready does not count as a failure of the route.
        if let Some(readiness) = &route.readiness {
            readiness(&route.track.serving_provider().model)?;
        }
        let lease = RouteLease::take(&route.track, &self.clock);
        let place = route.gate.acquire_slot().await?;
        let lease = lease.with_slot(place);
        match call(&route.engine).await {
            Ok(value) => Ok((value, lease)),
            Err(error) => {
                if error.may_fail_over() {
                    warn!(
                        provider.id = %route.track.serving_provider().provider,
                        provider.model = %route.track.serving_provider().model,
                        %error,
                        "a route failed before it produced anything"
                    );
                }
                Err(lease.fail(error))
            }
        }
    }

    fn choose_route(&self, search: &RouteSearch) -> Option<usize> {
        let now = self.clock.now();
        let candidates: Vec<RouteCandidate> = self
            .routes
            .iter()
            .zip(&search.tries)
            .map(|(route, tries)| RouteCandidate {
                weight: route.track.weight(),
                outstanding: route.track.outstanding(),
                distance: route.track.distance_from(search.session),
                health: route.track.health(now),
                has_room: route.gate.has_room(),
                tries: tries.count,
                is_spent: tries.is_spent,
            })
            .collect();
        select_route(&candidates, (self.dice)())
    }

    /// The error if all routes are unavailable after failures, with the time until the next retry.
    fn all_routes_unavailable(&self) -> EngineError {
        if self.routes.is_empty() {
            return EngineError::Misconfigured { cause: "the model has no route".to_owned() };
        }
        let now = self.clock.now();
        let waits = self.routes.iter().filter_map(|route| match route.track.health(now) {
            RouteHealth::Out { until } => Some(until.since(now)),
            RouteHealth::Healthy | RouteHealth::Resting => None,
        });
        EngineError::Overloaded { retry_after: waits.min() }
    }
}

/// The attempts of one request on one route.
#[derive(Clone, Copy, Default)]
struct RouteAttempts {
    count: u32,
    /// Set if the route may have started the work, so that a retry could be billed twice, or if it
    /// cannot do this work.
    is_spent: bool,
}

/// The state of one request's search for a route.
struct RouteSearch {
    /// By position of the route.
    tries: Vec<RouteAttempts>,
    session: Option<SessionId>,
}

impl<E: ?Sized> RoutePool<E> {
    /// True if any route has slots that work that may wait can take.
    fn has_spare_route(&self) -> bool {
        self.routes.is_empty() || self.routes.iter().any(|route| route.gate.has_spare_slots())
    }
}

impl RoutePool<dyn ChatEngine> {
    /// Excludes chat-only routes from text completions.
    fn begin_search(&self, request: &ChatRequest) -> Result<RouteSearch, EngineError> {
        let is_text = request.prompt().is_some();
        let suits = |route: &EngineRoute<dyn ChatEngine>| {
            !is_text || route.engine.supports_text_completion()
        };
        let tries = |route| RouteAttempts { count: 0, is_spent: !suits(route) };
        let tries: Vec<RouteAttempts> = self.routes.iter().map(tries).collect();
        let is_hopeless = !tries.is_empty() && tries.iter().all(|it| it.is_spent);
        if is_hopeless {
            return Err(anthropic::chat_only_error());
        }
        Ok(RouteSearch { tries, session: request.session })
    }
}

impl ChatEngine for RoutePool<dyn ChatEngine> {
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let search = self.begin_search(&request)?;
            let (answer, lease) = self
                .try_eligible_routes(search, |it| it.complete_chat(Arc::clone(&request)))
                .await?;
            Ok(ChatAnswer { served: Some(lease.succeed()), ..answer })
        })
    }

    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let search = self.begin_search(&request)?;
            let (stream, lease) =
                self.try_eligible_routes(search, |it| it.stream_chat(Arc::clone(&request))).await?;
            let served = ChatEvent::Served(lease.serving_provider().clone());
            Ok(stream::iter([Ok(served)]).chain(lease.wrap_stream(stream)).boxed())
        })
    }

    /// The count of the first route that can tell. Counting is no work that a route is chosen for,
    /// waited for or blamed for.
    fn count_prompt(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Option<u64>> {
        Box::pin(async move {
            for route in &self.routes {
                let model = &route.track.serving_provider().model;
                let is_ready = route.readiness.as_ref().is_none_or(|check| check(model).is_ok());
                if !is_ready {
                    continue;
                }
                if let Some(tokens) = route.engine.count_prompt(Arc::clone(&request)).await {
                    return Some(tokens);
                }
            }
            None
        })
    }

    /// All fields that any route drops, because it is not known in advance which route will serve.
    fn dropped_fields(&self, request: &ChatRequest) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.routes.iter().flat_map(|route| route.engine.dropped_fields(request)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn passes_through(&self, protocol: NativeProtocol) -> bool {
        self.routes.iter().all(|route| route.engine.passes_through(protocol))
    }

    fn has_spare_slots(&self) -> bool {
        self.has_spare_route()
    }
}

impl SpeechEngine for RoutePool<dyn SpeechEngine> {
    fn synthesize(
        &self,
        request: Arc<SpeechRequest>,
    ) -> BoxFuture<'_, Result<SoundStream, EngineError>> {
        Box::pin(async move {
            let (sound, lease) = self.try_routes(|it| it.synthesize(Arc::clone(&request))).await?;
            Ok(lease.wrap_stream(sound))
        })
    }

    fn clone_voice(&self, sample: Arc<VoiceSample>) -> BoxFuture<'_, Result<String, EngineError>> {
        Box::pin(async move {
            let (voice, lease) = self.try_routes(|it| it.clone_voice(Arc::clone(&sample))).await?;
            lease.succeed();
            Ok(voice)
        })
    }
}

impl RoutePool<dyn ImageEngine> {
    async fn run_image_call<'a>(
        &'a self,
        call: impl Fn(&'a dyn ImageEngine) -> ImageFuture<'a>,
    ) -> Result<ImageAnswer, EngineError> {
        let (answer, lease) = self.try_routes(call).await?;
        lease.succeed();
        Ok(answer)
    }
}

impl ImageEngine for RoutePool<dyn ImageEngine> {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(self.run_image_call(move |it| it.generate(Arc::clone(&request))))
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(self.run_image_call(move |it| it.edit(Arc::clone(&request))))
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(self.run_image_call(move |it| it.upscale(Arc::clone(&request))))
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(self.run_image_call(move |it| it.cut_out(Arc::clone(&request))))
    }

    fn takes_style_references(&self) -> bool {
        self.routes.iter().all(|route| route.engine.takes_style_references())
    }

    fn can_be_stopped(&self) -> bool {
        self.routes.iter().all(|route| route.engine.can_be_stopped())
    }
}

impl ImageClassifier for RoutePool<dyn ImageClassifier> {
    fn adult_score(&self, picture: ImageFile) -> BoxFuture<'_, Result<f64, EngineError>> {
        Box::pin(async move {
            let (score, lease) = self.try_routes(|it| it.adult_score(picture.clone())).await?;
            lease.succeed();
            Ok(score)
        })
    }
}

#[cfg(test)]
mod tests;
