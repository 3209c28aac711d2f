//! Tests a pool with scripted failures and a manual clock.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::{ChatEvent, ChatMessage, CompletionPrompt, PromptText, ServingProvider, TimeoutPhase};
use futures_util::{StreamExt, stream};
use moment::{ManualClock, Timestamp};

use super::*;
use crate::{
    ConcurrencyLimits, ProviderProtocol, ServerQuirks, UpstreamSettings, UpstreamTimeouts,
};

mod sessions;

/// Follows its script, request by request, and then succeeds.
struct ScriptedEngine {
    script: Mutex<VecDeque<ScriptedAction>>,
    asked: AtomicUsize,
    continues_texts: bool,
}

#[derive(Clone)]
enum ScriptedAction {
    Fail(EngineError),
    /// Sends one event and then fails.
    BreakOff(EngineError),
    Hang,
}

impl ScriptedEngine {
    fn new(script: impl IntoIterator<Item = ScriptedAction>) -> Arc<ScriptedEngine> {
        let script = Mutex::new(script.into_iter().collect());
        Arc::new(ScriptedEngine { script, asked: AtomicUsize::new(0), continues_texts: true })
    }

    fn chats_only() -> Arc<ScriptedEngine> {
        let (script, asked) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(ScriptedEngine { script, asked, continues_texts: false })
    }

    fn failing(error: &EngineError, times: usize) -> Arc<ScriptedEngine> {
        ScriptedEngine::new(vec![ScriptedAction::Fail(error.clone()); times])
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn next(&self) -> Option<ScriptedAction> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.script.lock().unwrap().pop_front()
    }
}

impl ChatEngine for ScriptedEngine {
    fn complete_chat(&self, _: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            match self.next() {
                None => Ok(ChatAnswer {
                    prompt_logprobs: None,
                    served: None,
                    upstream_id: None,
                    choices: Vec::new(),
                    usage: None,
                    native: None,
                }),
                Some(ScriptedAction::Fail(error) | ScriptedAction::BreakOff(error)) => Err(error),
                Some(ScriptedAction::Hang) => std::future::pending().await,
            }
        })
    }

    fn stream_chat(&self, _: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let first = Ok(ChatEvent::UpstreamId("1".to_owned()));
            match self.next() {
                None => Ok(stream::iter([first]).boxed()),
                Some(ScriptedAction::Fail(error)) => Err(error),
                Some(ScriptedAction::BreakOff(error)) => {
                    Ok(stream::iter([first, Err(error)]).boxed())
                }
                Some(ScriptedAction::Hang) => {
                    Ok(stream::iter([first]).chain(stream::pending()).boxed())
                }
            }
        })
    }

    fn supports_text_completion(&self) -> bool {
        self.continues_texts
    }
}

struct PoolFixture {
    pool: RoutePool<dyn ChatEngine>,
    clock: Arc<ManualClock>,
}

impl PoolFixture {
    fn of(engines: &[Arc<ScriptedEngine>]) -> PoolFixture {
        PoolFixture::with(engines, ConcurrencyLimits::default())
    }

    /// The random source always returns 0: the first of equal routes is selected, without delays.
    fn with(engines: &[Arc<ScriptedEngine>], concurrency: ConcurrencyLimits) -> PoolFixture {
        let clock = Arc::new(ManualClock::at(Timestamp::from_ms(0)));
        let routes = engines.iter().enumerate().map(|(index, engine)| {
            let engine: Arc<dyn ChatEngine> = Arc::<ScriptedEngine>::clone(engine);
            EngineRoute::new(engine, &upstream(&format!("p{index}"), concurrency), "m", 1)
        });
        let pool =
            RoutePool::new(routes.collect(), Arc::<ManualClock>::clone(&clock), Arc::new(|| 0));
        PoolFixture { pool, clock }
    }

    async fn ask(&self) -> Result<(), EngineError> {
        self.pool.complete_chat(Arc::default()).await.map(|_| ())
    }

    /// The events after the first, which names the provider.
    async fn stream(&self) -> Vec<Result<(), EngineError>> {
        let stream = self.pool.stream_chat(Arc::default()).await.unwrap();
        stream.skip(1).map(|item| item.map(|_| ())).collect().await
    }

    fn outstanding(&self) -> Vec<u32> {
        self.pool.reports().iter().map(|it| it.outstanding).collect()
    }
}

fn upstream(id: &str, concurrency: ConcurrencyLimits) -> UpstreamProvider {
    UpstreamProvider::new(UpstreamSettings {
        id: id.to_owned(),
        protocol: ProviderProtocol::OpenAi(ServerQuirks::VLLM),
        base_url: "http://vllm77:1".to_owned(),
        api_key: None,
        headers: Vec::new(),
        timeouts: UpstreamTimeouts::default(),
        concurrency,
        embedding_inputs_max: 1,
        bills_after_hangup: id == "p1",
        local: None,
    })
    .unwrap()
}

/// A route to a local process that is not ready until `switch` is set.
fn local_route(
    engine: &Arc<ScriptedEngine>,
    switch: &Arc<AtomicBool>,
) -> EngineRoute<dyn ChatEngine> {
    let engine: Arc<dyn ChatEngine> = Arc::<ScriptedEngine>::clone(engine);
    let mut route =
        EngineRoute::new(engine, &upstream("local", ConcurrencyLimits::default()), "m", 1);
    let switch = Arc::clone(switch);
    route.readiness =
        Some(Arc::new(
            move |model| {
                if switch.load(Ordering::SeqCst) { Ok(()) } else { Err(not_ready(model)) }
            },
        ));
    route
}

fn not_ready(model: &str) -> EngineError {
    let message = format!("{model} is being fetched");
    EngineError::NotReady { message, retry_after: Duration::from_secs(5) }
}

fn unreachable() -> EngineError {
    EngineError::Unreachable { cause: "refused".to_owned() }
}

fn broken() -> EngineError {
    EngineError::BadAnswer { cause: "status 500".to_owned() }
}

fn rejected() -> EngineError {
    EngineError::Rejected { message: "no".to_owned() }
}

#[tokio::test]
async fn another_route_is_tried_when_one_fails_before_its_first_byte() {
    for error in [unreachable(), broken(), EngineError::Timeout { phase: TimeoutPhase::FirstEvent }]
    {
        let (bad, good) = (ScriptedEngine::failing(&error, 1), ScriptedEngine::new([]));
        let stage = PoolFixture::of(&[Arc::clone(&bad), Arc::clone(&good)]);
        assert_eq!(stage.ask().await, Ok(()));
        assert_eq!((bad.asked(), good.asked()), (1, 1));
    }
}

#[tokio::test]
async fn the_answer_tells_who_gave_it() {
    let stage =
        PoolFixture::of(&[ScriptedEngine::failing(&unreachable(), 2), ScriptedEngine::new([])]);
    let expected =
        ServingProvider { provider: "p1".into(), model: "m".into(), bills_after_hangup: true };
    let answer = stage.pool.complete_chat(Arc::default()).await.unwrap();
    assert_eq!(answer.served, Some(expected.clone()));
    let first = stage.pool.stream_chat(Arc::default()).await.unwrap().next().await;
    let Some(Ok(ChatEvent::Served(served))) = first else { panic!("{first:?}") };
    assert_eq!(served, expected);
}

#[tokio::test]
async fn a_request_at_fault_is_not_offered_elsewhere() {
    let (first, second) = (ScriptedEngine::failing(&rejected(), 1), ScriptedEngine::new([]));
    let stage = PoolFixture::of(&[first, Arc::clone(&second)]);
    assert_eq!(stage.ask().await, Err(rejected()));
    assert_eq!(second.asked(), 0);
}

#[tokio::test]
async fn a_lone_route_is_asked_again_only_if_it_never_saw_the_request() {
    let missed = ScriptedEngine::failing(&unreachable(), 1);
    assert_eq!(PoolFixture::of(&[Arc::clone(&missed)]).ask().await, Ok(()));
    assert_eq!(missed.asked(), 2);
    let paid = ScriptedEngine::failing(&broken(), 1);
    assert_eq!(PoolFixture::of(&[Arc::clone(&paid)]).ask().await, Err(broken()));
    assert_eq!(paid.asked(), 1);
}

#[tokio::test]
async fn a_pool_without_routes_is_a_mistake_of_the_operator() {
    assert!(matches!(PoolFixture::of(&[]).ask().await, Err(EngineError::Misconfigured { .. })));
}

#[tokio::test]
async fn tries_are_bounded() {
    let engine = ScriptedEngine::failing(&unreachable(), 100);
    assert_eq!(PoolFixture::of(&[Arc::clone(&engine)]).ask().await, Err(unreachable()));
    assert_eq!(engine.asked(), 4);
}

#[tokio::test]
async fn a_failure_in_the_middle_is_told_and_not_tried_elsewhere() {
    let (first, second) =
        (ScriptedEngine::new([ScriptedAction::BreakOff(broken())]), ScriptedEngine::new([]));
    let stage = PoolFixture::of(&[first, Arc::clone(&second)]);
    assert_eq!(stage.stream().await, [Ok(()), Err(broken())]);
    assert_eq!(second.asked(), 0);
    assert_eq!(stage.outstanding(), [0, 0]);
}

#[tokio::test]
async fn the_configured_host_is_in_no_message() {
    let told = |message: &str| EngineError::Rejected { message: message.to_owned() };
    let said = told("cannot reach vllm77:8000, max_tokens:4096");
    let kept = told("cannot reach […], max_tokens:4096");
    let engine = ScriptedEngine::new([
        ScriptedAction::Fail(said.clone()),
        ScriptedAction::BreakOff(said.clone()),
    ]);
    let stage = PoolFixture::of(&[engine]);
    assert_eq!(stage.ask().await, Err(kept.clone()));
    assert_eq!(stage.stream().await, [Ok(()), Err(kept)]);
}

#[tokio::test]
async fn overload_of_all_routes_passes_on_the_wait() {
    let busy = EngineError::Overloaded { retry_after: Some(Duration::from_secs(9)) };
    let stage = PoolFixture::of(&[
        ScriptedEngine::failing(&busy, 1),
        ScriptedEngine::failing(&broken(), 1),
    ]);
    assert_eq!(stage.ask().await, Err(busy));
    assert_eq!(stage.pool.reports()[0].health, RouteHealth::Resting);
}

#[tokio::test]
async fn a_route_that_keeps_failing_is_left_alone_and_then_probed() {
    let engine = ScriptedEngine::failing(&broken(), 6);
    let stage = PoolFixture::of(&[Arc::clone(&engine)]);
    for _ in 0..5 {
        assert_eq!(stage.ask().await, Err(broken()));
    }
    let wait =
        |seconds| EngineError::Overloaded { retry_after: Some(Duration::from_secs(seconds)) };
    assert_eq!(stage.ask().await, Err(wait(5)));
    assert_eq!(engine.asked(), 5, "nothing is sent while it is out");
    stage.clock.advance(Duration::from_secs(5));
    assert_eq!(stage.ask().await, Err(broken()));
    assert_eq!(stage.ask().await, Err(wait(10)));
    stage.clock.advance(Duration::from_secs(10));
    assert_eq!(stage.ask().await, Ok(()));
    assert_eq!(stage.pool.reports()[0].health, RouteHealth::Healthy);
}

#[tokio::test]
async fn streams_that_always_break_off_put_a_route_out() {
    let stage =
        PoolFixture::of(&[ScriptedEngine::new(vec![ScriptedAction::BreakOff(broken()); 5])]);
    for _ in 0..5 {
        stage.stream().await;
    }
    assert!(matches!(stage.pool.reports()[0].health, RouteHealth::Out { .. }));
}

#[tokio::test]
async fn callers_at_fault_do_not_put_a_route_out() {
    let stage = PoolFixture::of(&[ScriptedEngine::failing(&rejected(), 20)]);
    for _ in 0..20 {
        assert_eq!(stage.ask().await, Err(rejected()));
    }
    assert_eq!(stage.pool.reports()[0].health, RouteHealth::Healthy);
}

#[tokio::test]
async fn a_stream_counts_as_outstanding_until_it_is_dropped() {
    let (first, second) = (ScriptedEngine::new([ScriptedAction::Hang]), ScriptedEngine::new([]));
    let stage = PoolFixture::of(&[first, Arc::clone(&second)]);
    let stream = stage.pool.stream_chat(Arc::default()).await.unwrap();
    assert_eq!(stage.outstanding(), [1, 0]);
    assert_eq!(stage.ask().await, Ok(()));
    assert_eq!(second.asked(), 1, "the idle route is asked");
    drop(stream);
    assert_eq!(stage.outstanding(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_full_provider_with_a_full_queue_is_overloaded() {
    let one_at_once = ConcurrencyLimits {
        requests_max: Some(1),
        queue_max: 0,
        queue_wait_max: Duration::from_secs(10),
    };
    let engine = ScriptedEngine::new([ScriptedAction::Hang]);
    let stage = PoolFixture::with(&[Arc::clone(&engine)], one_at_once);
    let stream = stage.pool.stream_chat(Arc::default()).await.unwrap();
    let full = EngineError::Overloaded { retry_after: Some(Duration::from_secs(1)) };
    let before = tokio::time::Instant::now();
    assert_eq!(stage.ask().await, Err(full));
    assert_eq!(before.elapsed(), Duration::ZERO, "it is refused at once");
    assert_eq!(engine.asked(), 1);
    drop(stream);
    assert_eq!(stage.ask().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_the_queue_is_served_when_a_place_comes_free() {
    let one_at_once = ConcurrencyLimits {
        requests_max: Some(1),
        queue_max: 1,
        queue_wait_max: Duration::from_secs(10),
    };
    let stage = PoolFixture::with(&[ScriptedEngine::new([ScriptedAction::Hang])], one_at_once);
    let stream = stage.pool.stream_chat(Arc::default()).await.unwrap();
    let mut waiting = Box::pin(stage.ask());
    assert!(futures_util::poll!(&mut waiting).is_pending());
    let too_many = EngineError::Overloaded { retry_after: Some(Duration::from_secs(1)) };
    let before = tokio::time::Instant::now();
    assert_eq!(stage.ask().await, Err(too_many));
    assert_eq!(before.elapsed(), Duration::ZERO, "it is refused at once");
    drop(stream);
    assert_eq!(waiting.await, Ok(()));
    assert_eq!(stage.outstanding(), [0]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_in_the_queue_for_ever() {
    let one_at_once = ConcurrencyLimits {
        requests_max: Some(1),
        queue_max: 1,
        queue_wait_max: Duration::from_secs(10),
    };
    let stage = PoolFixture::with(&[ScriptedEngine::new([ScriptedAction::Hang])], one_at_once);
    let _stream = stage.pool.stream_chat(Arc::default()).await.unwrap();
    assert!(matches!(stage.ask().await, Err(EngineError::Overloaded { .. })));
    assert_eq!(stage.outstanding(), [1]);
}

#[tokio::test]
async fn a_route_that_is_not_ready_is_not_asked_and_not_blamed() {
    let (engine, switch) = (ScriptedEngine::new([]), Arc::new(AtomicBool::new(false)));
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(0)));
    let pool = RoutePool::new(vec![local_route(&engine, &switch)], clock, Arc::new(|| 0));
    // More often than would open the breaker.
    for _ in 0..10 {
        assert_eq!(pool.complete_chat(Arc::default()).await.unwrap_err(), not_ready("m"));
    }
    assert_eq!(engine.asked(), 0);
    switch.store(true, Ordering::SeqCst);
    pool.complete_chat(Arc::default()).await.unwrap();
    assert_eq!(engine.asked(), 1);
}

#[tokio::test]
async fn another_route_answers_for_one_that_is_not_ready() {
    let (engine, other) = (ScriptedEngine::new([]), ScriptedEngine::new([]));
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(0)));
    let second: Arc<dyn ChatEngine> = Arc::<ScriptedEngine>::clone(&other);
    let second = EngineRoute::new(second, &upstream("p2", ConcurrencyLimits::default()), "m", 1);
    let routes = vec![local_route(&engine, &Arc::default()), second];
    let pool = RoutePool::new(routes, clock, Arc::new(|| 0));
    pool.complete_chat(Arc::default()).await.unwrap();
    assert_eq!((engine.asked(), other.asked()), (0, 1));
}

/// A text completion request.
fn text() -> Arc<ChatRequest> {
    let texts = vec![PromptText::Text("fn add(".to_owned())];
    let messages = vec![ChatMessage::Prompt(CompletionPrompt { texts, suffix: None })];
    Arc::new(ChatRequest { messages, ..ChatRequest::default() })
}

#[tokio::test]
async fn a_text_is_never_sent_to_a_route_that_answers_chats_only() {
    let overloaded = EngineError::Overloaded { retry_after: None };
    let (chats, texts) = (ScriptedEngine::chats_only(), ScriptedEngine::failing(&overloaded, 1));
    let stage = PoolFixture::of(&[Arc::clone(&chats), Arc::clone(&texts)]);
    assert_eq!(stage.pool.complete_chat(text()).await.map(drop), Err(overloaded));
    assert!(stage.pool.complete_chat(text()).await.is_ok());
    assert!(stage.pool.stream_chat(text()).await.is_ok());
    assert_eq!((chats.asked(), texts.asked()), (0, 3));
    stage.ask().await.unwrap();
    assert_eq!(chats.asked(), 1, "conversations go there as ever");
}

#[tokio::test]
async fn a_pool_that_answers_chats_only_says_so() {
    let chats = ScriptedEngine::chats_only();
    let stage = PoolFixture::of(&[Arc::clone(&chats)]);
    let outcome = stage.pool.complete_chat(text()).await.map(drop);
    assert!(matches!(outcome, Err(EngineError::Rejected { .. })), "{outcome:?}");
    assert_eq!(chats.asked(), 0);
}
