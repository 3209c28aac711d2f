//! Tests that requests of one session meet one route, at every node.

use engine::SessionId;

use super::*;

fn of_session(session: u64) -> Arc<ChatRequest> {
    Arc::new(ChatRequest { session: Some(SessionId(session)), ..ChatRequest::default() })
}

#[tokio::test]
async fn requests_of_one_session_meet_one_route_and_sessions_spread_over_the_routes() {
    let (first, second) = (ScriptedEngine::new([]), ScriptedEngine::new([]));
    let stage = PoolFixture::of(&[Arc::clone(&first), Arc::clone(&second)]);
    let mut sessions_of_second = 0;
    for session in 0..20 {
        let before = [first.asked(), second.asked()];
        for _ in 0..10 {
            stage.pool.complete_chat(of_session(session)).await.unwrap();
            let stream = stage.pool.stream_chat(of_session(session)).await.unwrap();
            stream.for_each(|_| std::future::ready(())).await;
        }
        let asked = [first.asked() - before[0], second.asked() - before[1]];
        assert!(asked == [20, 0] || asked == [0, 20], "{session}: {asked:?}");
        sessions_of_second += usize::from(asked == [0, 20]);
    }
    assert!((1..20).contains(&sessions_of_second), "{sessions_of_second}");
}

#[tokio::test]
async fn a_session_leaves_a_route_that_fails_and_comes_back_to_it() {
    let broken_once = || ScriptedEngine::failing(&unreachable(), 1);
    let (first, second) = (broken_once(), broken_once());
    let stage = PoolFixture::of(&[Arc::clone(&first), Arc::clone(&second)]);
    // The near route fails, the other one too, and the near one answers.
    stage.pool.complete_chat(of_session(1)).await.unwrap();
    let near = if first.asked() == 2 { &first } else { &second };
    assert_eq!(first.asked() + second.asked(), 3);
    for _ in 0..5 {
        stage.pool.complete_chat(of_session(1)).await.unwrap();
    }
    assert_eq!(near.asked(), 7);
}

/// A route of a pool of another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeRoute {
    provider: &'static str,
    weight: u32,
}

const ROUTES: [NodeRoute; 4] = [
    NodeRoute { provider: "a", weight: 1 },
    NodeRoute { provider: "b", weight: 2 },
    NodeRoute { provider: "c", weight: 5 },
    NodeRoute { provider: "d", weight: 0 },
];

/// The pool of one node, which has nothing in common with other pools. Its dice are its own.
fn build_node(routes: &[NodeRoute], dice: u64) -> RoutePool<dyn ChatEngine> {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(Timestamp::from_ms(0)));
    let routes = routes.iter().map(|route| {
        let engine: Arc<dyn ChatEngine> = ScriptedEngine::new([]);
        let upstream = upstream(route.provider, ConcurrencyLimits::default());
        EngineRoute::new(engine, &upstream, "m", route.weight)
    });
    RoutePool::new(routes.collect(), clock, Arc::new(move || dice))
}

async fn find_provider(node: &RoutePool<dyn ChatEngine>, session: u64) -> String {
    let answer = node.complete_chat(of_session(session)).await.unwrap();
    answer.served.unwrap().provider.to_string()
}

/// Digests of sessions are spread over all numbers.
fn spread_sessions(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[tokio::test]
async fn nodes_that_share_nothing_choose_the_same_route() {
    let mut reordered = ROUTES;
    reordered.reverse();
    let (first, second) = (build_node(&ROUTES, 0), build_node(&reordered, 7));
    for session in spread_sessions(300) {
        // The second node has seen other sessions before.
        find_provider(&second, session.rotate_left(9)).await;
        let chosen = find_provider(&first, session).await;
        assert_eq!(chosen, find_provider(&second, session).await);
        assert_ne!(chosen, "d", "a standby serves only while no other route can");
    }
}

#[tokio::test]
async fn routes_serve_sessions_by_their_weights() {
    let node = build_node(&ROUTES, 0);
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for session in spread_sessions(4_000) {
        *counts.entry(find_provider(&node, session).await).or_default() += 1;
    }
    for (provider, expected) in [("a", 500), ("b", 1_000), ("c", 2_500)] {
        let count = counts[provider];
        assert!(count.abs_diff(expected) < 150, "{provider}: {count} of {expected}");
    }
}

#[tokio::test]
async fn the_loss_of_a_route_moves_only_its_sessions() {
    let whole = build_node(&ROUTES, 0);
    let left: Vec<NodeRoute> = ROUTES.into_iter().filter(|it| it.provider != "b").collect();
    let left = build_node(&left, 0);
    let mut moved = 0;
    for session in spread_sessions(400) {
        let before = find_provider(&whole, session).await;
        let after = find_provider(&left, session).await;
        assert!(before == after || before == "b", "{session}: {before} to {after}");
        moved += u32::from(before != after);
    }
    assert!((50..150).contains(&moved), "{moved}");
}
