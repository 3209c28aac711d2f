//! Stored responses and conversations: readable by their owner until their keys are destroyed, and
//! run by one worker at a time.

use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, commit_writes, expect_refusal, owner_id, today_at,
};
use crate::conversation::{
    ConversationId, ConversationRecord, ConversationWrite, ItemQuery, NewConversationItem,
};
use crate::error::StoreError;
use crate::model_response::{
    ResponseCost, ResponseEnd, ResponseFilter, ResponseId, ResponseRecord, ResponseState,
    ResponseWrite, SealedEvents, SealedResponse, StoredTotals,
};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a response is read by its owner until it is deleted", |store| {
        Box::pin(check_deletion(store))
    }),
    ("a chain of responses ends at one that is not there", |store| Box::pin(check_chain(store))),
    ("a background response has one worker and ends once", |store| Box::pin(check_run(store))),
    ("owners take turns among the responses that wait", |store| Box::pin(check_turns(store))),
    ("expired responses lose their keys and then their rows", |store| {
        Box::pin(check_expiry(store))
    }),
    ("items of a conversation keep their order and are deleted alone", |store| {
        Box::pin(check_items(store))
    }),
    ("a deleted conversation takes no items and refuses no charge", |store| {
        Box::pin(check_conversation(store))
    }),
];

fn response_id(number: u128) -> ResponseId {
    ResponseId(Uuid::from_u128(number))
}

fn conversation_id(number: u128) -> ConversationId {
    ConversationId(Uuid::from_u128(number))
}

fn ended(number: u128, owner: u8) -> SealedResponse {
    let record = ResponseRecord {
        id: response_id(number),
        owner: owner_id(owner),
        state: ResponseState::Completed,
        model: "llama".into(),
        previous: None,
        depth: 0,
        conversation: None,
        is_background: false,
        is_streamed: false,
        bytes: 10,
        key: Some([7; 32]),
        cost: ResponseCost { usd: Nano::from_nanos(5), diem: Nano::ZERO },
        fence: 0,
        lease_until: Timestamp::default(),
        wants_cancel: false,
        events: 0,
        created: today_at(i64::try_from(number).unwrap_or_default()),
        started: None,
        ended: Some(today_at(50)),
        expires: today_at(100),
    };
    SealedResponse { record, input: vec![1, 2], output: Some(vec![3]) }
}

fn queued(number: u128, owner: u8) -> SealedResponse {
    let SealedResponse { record, input, .. } = ended(number, owner);
    let record = ResponseRecord {
        state: ResponseState::Queued,
        is_background: true,
        is_streamed: true,
        cost: ResponseCost::default(),
        ended: None,
        ..record
    };
    SealedResponse { record, input, output: None }
}

fn end(number: u128) -> ResponseEnd {
    ResponseEnd {
        id: response_id(number),
        state: ResponseState::Cancelled,
        output: vec![9],
        bytes: 3,
        cost: ResponseCost { usd: Nano::from_nanos(2), diem: Nano::from_nanos(1) },
        at: today_at(60),
    }
}

async fn add(store: &dyn Store, response: SealedResponse) {
    commit_writes(store, vec![ResponseWrite::Add(response).into()]).await;
}

async fn write(store: &dyn Store, write: ResponseWrite) {
    commit_writes(store, vec![write.into()]).await;
}

async fn check_deletion(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    add(store, ended(1, 1)).await;
    let find =
        async |owner| store.find_response(owner_id(owner), response_id(1)).await.expect("asked");
    assert_eq!(find(1).await, Some(ended(1, 1)));
    assert_eq!(find(2).await, None);
    let error = expect_refusal(store, vec![ResponseWrite::Add(ended(1, 1)).into()]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    let totals = store.stored_totals(owner_id(1)).await.expect("asked");
    assert_eq!(totals, StoredTotals { objects: 1, bytes: 10 });
    let delete = |owner| ResponseWrite::Delete { owner: owner_id(owner), id: response_id(1) };
    write(store, delete(2)).await;
    assert!(find(1).await.is_some(), "another owner deletes nothing");
    write(store, delete(1)).await;
    write(store, delete(1)).await;
    assert_eq!(find(1).await, None);
    let record =
        store.response_record(response_id(1)).await.expect("asked").expect("the row stays");
    assert_eq!(record.key, None);
    assert_eq!(store.stored_totals(owner_id(1)).await.expect("asked"), StoredTotals::default());
    assert!(list(store, 1, None).await.is_empty());
}

async fn list(store: &dyn Store, owner: u8, before: Option<u128>) -> Vec<ResponseId> {
    let filter = ResponseFilter {
        owner: owner_id(owner),
        before: before.map(response_id),
        now: today_at(60),
        limit: 2,
    };
    let found = store.list_responses(filter).await.expect("asked");
    found.into_iter().map(|record| record.id).collect()
}

async fn check_chain(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    for number in 1..=4 {
        let mut response = ended(number, 1);
        response.record.previous = (1 < number).then(|| response_id(number - 1));
        response.record.depth = u64::try_from(number - 1).unwrap_or_default();
        add(store, response).await;
    }
    let chain = async |owner, number, rows_max| {
        let found = store
            .response_chain(owner_id(owner), response_id(number), rows_max)
            .await
            .expect("asked");
        found.into_iter().map(|it| it.record.id).collect::<Vec<_>>()
    };
    assert_eq!(chain(1, 4, 9).await, [4, 3, 2, 1].map(response_id));
    assert_eq!(chain(1, 4, 2).await, [4, 3].map(response_id));
    assert!(chain(2, 4, 9).await.is_empty());
    assert!(chain(1, 9, 9).await.is_empty());
    assert_eq!(list(store, 1, None).await, [4, 3].map(response_id));
    assert_eq!(list(store, 1, Some(3)).await, [2, 1].map(response_id));
    write(store, ResponseWrite::Delete { owner: owner_id(1), id: response_id(2) }).await;
    assert_eq!(chain(1, 4, 9).await, [4, 3].map(response_id));
}

async fn check_run(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add(store, queued(1, 1)).await;
    assert_eq!(store.open_responses(owner_id(1)).await.expect("asked"), 1);
    let claim = |fence| ResponseWrite::Claim {
        id: response_id(1),
        fence,
        lease_until: today_at(80),
        at: today_at(10),
    };
    write(store, claim(0)).await;
    let error = expect_refusal(store, vec![claim(1).into()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "the lease has not ended: {error}");
    let add_events = |fence, first, last| ResponseWrite::AddEvents {
        id: response_id(1),
        fence,
        events: SealedEvents { first, last, sealed: vec![8] },
    };
    write(store, add_events(1, 0, 3)).await;
    for refused in [add_events(0, 4, 5), add_events(1, 2, 5), add_events(1, 5, 6)] {
        let error = expect_refusal(store, vec![refused.into()]).await;
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
    }
    write(store, add_events(1, 4, 4)).await;
    let events = async |after| {
        let found = store.response_events(response_id(1), after, 9).await.expect("asked");
        found.iter().map(|events| (events.first, events.last)).collect::<Vec<_>>()
    };
    assert_eq!(events(None).await, [(0, 3), (4, 4)]);
    assert_eq!(events(Some(2)).await, [(0, 3), (4, 4)]);
    assert_eq!(events(Some(3)).await, [(4, 4)]);
    assert!(events(Some(4)).await.is_empty());
    write(store, ResponseWrite::BreakLeases).await;
    write(store, claim(1)).await;
    let beat = |fence| ResponseWrite::Beat { id: response_id(1), fence, lease_until: today_at(90) };
    write(store, beat(2)).await;
    let error = expect_refusal(store, vec![beat(1).into()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    write(store, ResponseWrite::WantCancel(response_id(1))).await;
    let record = store.response_record(response_id(1)).await.expect("asked").expect("it is there");
    assert!(record.wants_cancel && record.events == 5 && record.started == Some(today_at(10)));
    write(store, ResponseWrite::End(end(1))).await;
    let again = ResponseEnd { state: ResponseState::Completed, ..end(1) };
    write(store, ResponseWrite::End(again)).await;
    let found =
        store.find_response(owner_id(1), response_id(1)).await.expect("asked").expect("there");
    assert_eq!(found.record.state, ResponseState::Cancelled);
    assert_eq!((found.record.bytes, found.output), (13, Some(vec![9])));
    assert_eq!(found.record.cost, end(1).cost);
    assert_eq!(store.open_responses(owner_id(1)).await.expect("asked"), 0);
}

async fn check_turns(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    for (number, owner) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
        add(store, queued(number, owner)).await;
    }
    let due = async |ms, each_max, limit| {
        let found = store.due_responses(today_at(ms), each_max, limit).await.expect("asked");
        found.into_iter().map(|record| record.id).collect::<Vec<_>>()
    };
    assert_eq!(due(10, 2, 9).await, [1, 4, 2].map(response_id));
    assert_eq!(due(10, 1, 9).await, [1, 4].map(response_id));
    assert_eq!(due(10, 2, 1).await, [1].map(response_id));
    let claim = ResponseWrite::Claim {
        id: response_id(1),
        fence: 0,
        lease_until: today_at(20),
        at: today_at(10),
    };
    write(store, claim).await;
    assert_eq!(due(19, 1, 9).await, [2, 4].map(response_id));
    assert_eq!(due(20, 1, 9).await, [1, 4].map(response_id));
}

async fn check_expiry(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add(store, ended(1, 1)).await;
    add(store, queued(2, 1)).await;
    let drop_expired = |ms| ResponseWrite::DropExpired { now: today_at(ms), rows_max: 9 };
    write(store, drop_expired(99)).await;
    assert!(store.find_response(owner_id(1), response_id(1)).await.expect("asked").is_some());
    write(store, drop_expired(100)).await;
    let record = store.response_record(response_id(1)).await.expect("asked").expect("its row");
    assert_eq!(record.key, None);
    write(store, drop_expired(100)).await;
    assert_eq!(store.response_record(response_id(1)).await.expect("asked"), None);
    // One that runs is kept until it has ended, also without its contents.
    write(store, ResponseWrite::Delete { owner: owner_id(1), id: response_id(2) }).await;
    write(store, drop_expired(100)).await;
    let record = store.response_record(response_id(2)).await.expect("asked").expect("its row");
    assert!(record.wants_cancel && record.key.is_none());
    write(store, ResponseWrite::End(end(2))).await;
    write(store, drop_expired(100)).await;
    assert_eq!(store.response_record(response_id(2)).await.expect("asked"), None);
}

fn conversation(number: u128, owner: u8) -> ConversationRecord {
    ConversationRecord {
        id: conversation_id(number),
        owner: owner_id(owner),
        key: [6; 32],
        metadata: vec![1],
        bytes: 2,
        created: today_at(1),
        expires: today_at(100),
    }
}

fn item(name: &str) -> NewConversationItem {
    NewConversationItem { item: name.into(), key: [5; 32], sealed: vec![2], bytes: 4 }
}

fn add_items(owner: u8, names: &[&str], expires_ms: i64) -> StoreWrite {
    ConversationWrite::AddItems {
        owner: owner_id(owner),
        conversation: conversation_id(1),
        items: names.iter().map(|name| item(name)).collect(),
        expires: today_at(expires_ms),
    }
    .into()
}

async fn read_items(store: &dyn Store, after: Option<u64>, is_ascending: bool) -> Vec<String> {
    let conversation = conversation_id(1);
    let query = ItemQuery { conversation, after, is_ascending, limit: 3 };
    let found = store.conversation_items(query).await.expect("asked");
    found.into_iter().map(|it| it.content.item).collect()
}

async fn check_items(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![ConversationWrite::Add(conversation(1, 1)).into()]).await;
    commit_writes(store, vec![add_items(1, &["a", "b"], 50), add_items(1, &["c", "d"], 200)]).await;
    assert_eq!(read_items(store, None, true).await, ["a", "b", "c"]);
    assert_eq!(read_items(store, Some(2), true).await, ["d"]);
    assert_eq!(read_items(store, None, false).await, ["d", "c", "b"]);
    assert_eq!(read_items(store, Some(1), false).await, ["a"]);
    let found =
        store.conversation_item(conversation_id(1), "c").await.expect("asked").expect("there");
    assert_eq!((found.position, found.content), (2, item("c")));
    let delete =
        ConversationWrite::DeleteItem { conversation: conversation_id(1), item: "d".into() };
    commit_writes(store, vec![delete.into(), add_items(1, &["e"], 50)]).await;
    assert_eq!(read_items(store, Some(1), true).await, ["c", "e"]);
    assert!(store.conversation_item(conversation_id(1), "d").await.expect("asked").is_none());
    let kept = store.find_conversation(owner_id(1), conversation_id(1)).await.expect("asked");
    assert_eq!(kept.map(|it| it.expires), Some(today_at(200)));
    let totals = store.stored_totals(owner_id(1)).await.expect("asked");
    assert_eq!(totals, StoredTotals { objects: 5, bytes: 18 });
}

async fn check_conversation(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    commit_writes(store, vec![ConversationWrite::Add(conversation(1, 1)).into()]).await;
    let found = async |owner| {
        store.find_conversation(owner_id(owner), conversation_id(1)).await.expect("asked")
    };
    assert_eq!(found(1).await, Some(conversation(1, 1)));
    assert_eq!(found(2).await, None);
    let set = |owner| ConversationWrite::SetMetadata {
        owner: owner_id(owner),
        id: conversation_id(1),
        metadata: vec![4],
        bytes: 7,
    };
    let error = expect_refusal(store, vec![set(2).into()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![set(1).into(), add_items(2, &["x"], 50)]).await;
    assert_eq!(found(1).await.map(|it| it.metadata), Some(vec![4]));
    assert!(read_items(store, None, true).await.is_empty(), "another owner adds nothing");
    commit_writes(store, vec![add_items(1, &["a"], 50)]).await;
    let delete =
        |owner| ConversationWrite::Delete { owner: owner_id(owner), id: conversation_id(1) };
    commit_writes(store, vec![delete(2).into()]).await;
    assert_eq!(read_items(store, None, true).await, ["a"]);
    commit_writes(store, vec![delete(1).into(), add_items(1, &["b"], 50)]).await;
    assert_eq!(found(1).await, None);
    assert!(read_items(store, None, true).await.is_empty());
    let drop_expired = || ConversationWrite::DropExpired { now: today_at(100), rows_max: 9 };
    commit_writes(store, vec![drop_expired().into()]).await;
    commit_writes(store, vec![ConversationWrite::Add(conversation(1, 1)).into()]).await;
    commit_writes(store, vec![drop_expired().into()]).await;
    assert_eq!(found(1).await, None, "it has expired");
}
