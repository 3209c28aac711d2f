//! Several routes to one model as one engine: load balancing, circuit breaking and failover.

mod backoff;
mod breaker;
mod choice;
mod gate;
mod lease;

use std::future::Future;
use std::sync::Arc;

use engine::{
    ChatAnswer, ChatEngine, ChatEvent, ChatRequest, ChatStream, CutOutRequest, EditRequest,
    EmbeddingAnswer, EmbeddingEngine, EmbeddingRequest, EngineError, ImageAnswer, ImageEngine,
    ImageFuture, ImageRequest, Picture, PictureJudge, SoundStream, SpeechEngine, SpeechRequest,
    Transcript, TranscriptionEngine, TranscriptionRequest, UpscaleRequest, VoiceSample,
};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use moment::Clock;
use tracing::warn;

pub(crate) use gate::Gate;

pub use breaker::RouteHealth;

use crate::Upstream;
use crate::anthropic;
use crate::upstream::Readiness;
use choice::{Candidate, choose};
use lease::{Lease, Track};

/// Source of random numbers for retry jitter and ties.
pub type Dice = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Few, because each further attempt may be billed by a provider.
const ATTEMPTS_MAX: u32 = 4;

/// An engine over several routes. Fails over to another route while nothing has been produced.
pub struct Pool<E: ?Sized> {
    routes: Vec<Route<E>>,
    clock: Arc<dyn Clock>,
    dice: Dice,
}

/// One provider's engine for a model.
pub struct Route<E: ?Sized> {
    engine: Arc<E>,
    gate: Arc<Gate>,
    readiness: Option<Readiness>,
    track: Arc<Track>,
}

/// The state of a route, for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReport {
    pub provider: Arc<str>,
    pub model: Arc<str>,
    pub outstanding: u32,
    pub health: RouteHealth,
}

impl<E: ?Sized> Route<E> {
    /// `weight` is the share of the load; a route of weight 0 is a standby for the others.
    pub fn new(engine: Arc<E>, upstream: &Upstream, model: &str, weight: u32) -> Route<E> {
        let track = Arc::new(Track::new(upstream.served(model), weight));
        Route { engine, gate: upstream.gate(), readiness: upstream.readiness(), track }
    }
}

impl<E: ?Sized> Pool<E> {
    pub fn new(routes: Vec<Route<E>>, clock: Arc<dyn Clock>, dice: Dice) -> Pool<E> {
        Pool { routes, clock, dice }
    }

    pub fn reports(&self) -> Vec<RouteReport> {
        let now = self.clock.now();
        self.routes.iter().map(|route| route.track.report(now)).collect()
    }

    /// Tries routes until one succeeds; returns its result and the lease of the route.
    async fn first_to<'a, T, F>(
        &'a self,
        call: impl Fn(&'a E) -> F,
    ) -> Result<(T, Lease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        self.first_of(vec![Tries::default(); self.routes.len()], call).await
    }

    /// As [`Pool::first_to`], with routes that are excluded from the start.
    async fn first_of<'a, T, F>(
        &'a self,
        mut tries: Vec<Tries>,
        call: impl Fn(&'a E) -> F,
    ) -> Result<(T, Lease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        let mut failure: Option<EngineError> = None;
        for attempt in 0..ATTEMPTS_MAX {
            let Some(position) = self.choose(&tries) else { break };
            if 0 < attempt {
                tokio::time::sleep(backoff::delay(attempt, (self.dice)())).await;
            }
            let error = match self.ask(&self.routes[position], &call).await {
                Ok(given) => return Ok(given),
                Err(error) if !error.may_fail_over() => return Err(error),
                Err(error) => error,
            };
            tries[position].count += 1;
            tries[position].is_spent = !error.may_ask_again();
            failure = Some(match failure {
                Some(before) => choice::more_telling(before, error),
                None => error,
            });
        }
        Err(failure.unwrap_or_else(|| self.nobody_left()))
    }

    async fn ask<'a, T, F>(
        &'a self,
        route: &'a Route<E>,
        call: &impl Fn(&'a E) -> F,
    ) -> Result<(T, Lease), EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        // Not being ready does not count as a failure of the route.
        if let Some(readiness) = &route.readiness {
            readiness(&route.track.served().model)?;
        }
        let lease = Lease::take(&route.track, &self.clock);
        let place = route.gate.enter().await?;
        let lease = lease.with_place(place);
        match call(&route.engine).await {
            Ok(value) => Ok((value, lease)),
            Err(error) => {
                if error.may_fail_over() {
                    warn!(
                        provider.id = %route.track.served().provider,
                        provider.model = %route.track.served().model,
                        %error,
                        "a route failed before it produced anything"
                    );
                }
                lease.fail(&error);
                Err(error)
            }
        }
    }

    fn choose(&self, tries: &[Tries]) -> Option<usize> {
        let now = self.clock.now();
        let candidates: Vec<Candidate> = self
            .routes
            .iter()
            .zip(tries)
            .map(|(route, tries)| Candidate {
                weight: route.track.weight(),
                outstanding: route.track.outstanding(),
                health: route.track.health(now),
                has_room: route.gate.has_room(),
                tries: tries.count,
                is_spent: tries.is_spent,
            })
            .collect();
        choose(&candidates, (self.dice)())
    }

    /// The error if all routes are unavailable after failures, with the time until the next retry.
    fn nobody_left(&self) -> EngineError {
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
struct Tries {
    count: u32,
    /// Set if the route may have started the work, so that a retry could be billed twice, or if it
    /// cannot do this work.
    is_spent: bool,
}

impl Pool<dyn ChatEngine> {
    /// Excludes chat-only routes from text completions.
    fn suited(&self, request: &ChatRequest) -> Result<Vec<Tries>, EngineError> {
        let is_text = request.prompt().is_some();
        let suits = |route: &Route<dyn ChatEngine>| !is_text || route.engine.continues_texts();
        let tries = |route| Tries { count: 0, is_spent: !suits(route) };
        let tries: Vec<Tries> = self.routes.iter().map(tries).collect();
        let is_hopeless = !tries.is_empty() && tries.iter().all(|it| it.is_spent);
        if is_hopeless { Err(anthropic::chats_only()) } else { Ok(tries) }
    }
}

impl ChatEngine for Pool<dyn ChatEngine> {
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            let tries = self.suited(&request)?;
            let (answer, lease) =
                self.first_of(tries, |it| it.answer(Arc::clone(&request))).await?;
            Ok(ChatAnswer { served: Some(lease.succeed()), ..answer })
        })
    }

    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let tries = self.suited(&request)?;
            let (stream, lease) =
                self.first_of(tries, |it| it.stream(Arc::clone(&request))).await?;
            let served = ChatEvent::Served(lease.served().clone());
            Ok(stream::iter([Ok(served)]).chain(lease.over(stream)).boxed())
        })
    }

    /// All fields that any route drops, because it is not known in advance which route will serve.
    fn dropped(&self, request: &ChatRequest) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.routes.iter().flat_map(|route| route.engine.dropped(request)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl EmbeddingEngine for Pool<dyn EmbeddingEngine> {
    fn embed(
        &self,
        request: Arc<EmbeddingRequest>,
    ) -> BoxFuture<'_, Result<EmbeddingAnswer, EngineError>> {
        Box::pin(async move {
            let (answer, lease) = self.first_to(|it| it.embed(Arc::clone(&request))).await?;
            lease.succeed();
            Ok(answer)
        })
    }
}

impl SpeechEngine for Pool<dyn SpeechEngine> {
    fn speak(
        &self,
        request: Arc<SpeechRequest>,
    ) -> BoxFuture<'_, Result<SoundStream, EngineError>> {
        Box::pin(async move {
            let (sound, lease) = self.first_to(|it| it.speak(Arc::clone(&request))).await?;
            Ok(lease.over(sound))
        })
    }

    fn clone_voice(&self, sample: Arc<VoiceSample>) -> BoxFuture<'_, Result<String, EngineError>> {
        Box::pin(async move {
            let (voice, lease) = self.first_to(|it| it.clone_voice(Arc::clone(&sample))).await?;
            lease.succeed();
            Ok(voice)
        })
    }
}

impl Pool<dyn ImageEngine> {
    async fn made<'a>(
        &'a self,
        call: impl Fn(&'a dyn ImageEngine) -> ImageFuture<'a>,
    ) -> Result<ImageAnswer, EngineError> {
        let (answer, lease) = self.first_to(call).await?;
        lease.succeed();
        Ok(answer)
    }
}

impl ImageEngine for Pool<dyn ImageEngine> {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(self.made(move |it| it.generate(Arc::clone(&request))))
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(self.made(move |it| it.edit(Arc::clone(&request))))
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(self.made(move |it| it.upscale(Arc::clone(&request))))
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(self.made(move |it| it.cut_out(Arc::clone(&request))))
    }

    fn takes_style_references(&self) -> bool {
        self.routes.iter().all(|route| route.engine.takes_style_references())
    }

    fn can_be_stopped(&self) -> bool {
        self.routes.iter().all(|route| route.engine.can_be_stopped())
    }
}

impl PictureJudge for Pool<dyn PictureJudge> {
    fn adult_score(&self, picture: Picture) -> BoxFuture<'_, Result<f64, EngineError>> {
        Box::pin(async move {
            let (score, lease) = self.first_to(|it| it.adult_score(picture.clone())).await?;
            lease.succeed();
            Ok(score)
        })
    }
}

impl TranscriptionEngine for Pool<dyn TranscriptionEngine> {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Transcript, EngineError>> {
        Box::pin(async move {
            let (transcript, lease) =
                self.first_to(|it| it.transcribe(Arc::clone(&request))).await?;
            lease.succeed();
            Ok(transcript)
        })
    }
}

#[cfg(test)]
mod tests;
