//! Tests of `/characters…`: personas, search and reviews.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestClient;

pub(crate) fn card(name: &str, extra: &Value) -> Value {
    let mut data = json!({"name": name, "description": format!("{name} mends nets."),
        "personality": "Calm.", "first_mes": "Hello.", "tags": ["sea"], "creator": "me",
        "extensions": {"tollgate": {}}});
    for (key, value) in extra.as_object().unwrap() {
        data[key] = value.clone();
    }
    json!({"card": {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}})
}

pub(crate) async fn add(app: &TestApp, name: &str, extra: Value) -> Value {
    let operator = app.operator().await;
    operator.post("/admin/characters", &card(name, &extra)).await.ok_json()["data"].clone()
}

async fn names(client: &TestClient, query: &str) -> Vec<String> {
    let list = client.get(&format!("/characters{query}")).await.ok_json();
    assert_eq!(list["object"], "list");
    let names =
        list["data"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[tokio::test]
async fn a_character_is_shown_with_everything_that_is_told_of_it() {
    let app = TestApp::start().await;
    let made = add(&app, "Mara Netz", json!({"creator_notes": "A fisher.\n\nMore."})).await;
    let inference = app.inference().await;
    let reply = inference.get("/characters/mara-netz").await.ok_json();
    assert_eq!(reply["object"], "character");
    let character = &reply["data"];
    assert_eq!(character["description"], "A fisher.");
    assert_eq!(character["author"].as_str().unwrap().len(), 5);
    assert_eq!(character["shareUrl"], "http://testhost/c/mara-netz");
    let shared = app.anonymous().send_raw(Method::GET, "/c/mara-netz", Body::empty()).await;
    assert_eq!(shared.status, 303);
    assert_eq!(shared.header("location"), "/#/playground?character=mara-netz");
    let path = "/c/a%0d%0ab";
    assert_eq!(app.anonymous().send_raw(Method::GET, path, Body::empty()).await.status, 404);
    assert_eq!(character["photoUrl"], "http://testhost/api/v1/characters/mara-netz/photo");
    let stats = json!({"averageRating": 0.0, "imports": 0, "ratingCount": 0, "ratingSum": 0.0, "userRating": 0.0});
    assert_eq!(character["stats"], stats);
    let id = made["id"].as_str().unwrap();
    assert_eq!(inference.get(&format!("/characters/{id}")).await.ok_json()["data"], *character);
    assert_eq!(inference.get("/characters/nobody").await.status, 404);
    let photo = app.anonymous().get("/characters/mara-netz/photo").await;
    assert_eq!((photo.status, photo.header("content-type")), (200, "image/svg+xml"));
    assert!(photo.header("content-security-policy").contains("default-src 'none'"));
}

#[tokio::test]
async fn characters_are_for_keys_alone() {
    let app = TestApp::start().await;
    let reply = app.anonymous().get("/characters").await;
    assert_eq!(reply.status, 401, "{}", reply.text());
    let stranger = app.another_account("stranger").await;
    assert_eq!(stranger.get("/characters").await.status, 200);
    let reply = stranger.post("/admin/characters", &card("X", &json!({}))).await;
    assert_eq!(reply.status, 403, "{}", reply.text());
    let reply = app.admin().post("/admin/characters", &card("X", &json!({}))).await;
    assert_eq!(reply.status, 403, "an ADMIN key of `default` is no operator: {}", reply.text());
}

#[tokio::test]
async fn lists_are_filtered_searched_and_sorted() {
    let app = TestApp::start().await;
    let web = json!({"extensions": {"tollgate": {"web": true, "featured": true}}});
    add(&app, "Ada", web).await;
    app.clock.advance_s(1);
    add(
        &app,
        "Bo",
        json!({"tags": ["Sea", "calm"], "extensions": {"tollgate": {"model": "kimi-k3"}}}),
    )
    .await;
    app.clock.advance_s(1);
    add(&app, "Cleo", json!({"tags": ["land"], "description": "Sails in storms."})).await;
    add(&app, "Dora", json!({"tags": ["nsfw"]})).await;
    let all = app.inference().await;
    for (query, expected) in [
        ("?sortBy=mostRecent", &["Cleo", "Bo", "Ada"][..]),
        ("?sortBy=mostRecent&sortOrder=asc", &["Ada", "Bo", "Cleo"]),
        ("?sortBy=mostRecent&limit=1&offset=1", &["Bo"]),
        ("?sortBy=featured", &["Ada"]),
        ("?isAdult=true", &["Dora"]),
        ("?isWebEnabled=true", &["Ada"]),
        ("?isWebEnabled=false&sortBy=mostRecent", &["Cleo", "Bo"]),
        ("?isPro=true", &[]),
        ("?tags=calm,land&sortBy=mostRecent", &["Cleo", "Bo"]),
        ("?tags=calm&tags=land&sortBy=mostRecent", &["Cleo", "Bo"]),
        ("?categories=LAND", &["Cleo"]),
        ("?modelId=kimi-k3", &["Bo"]),
        ("?search=storm", &["Cleo"]),
        ("?search=MENDS&sortBy=mostRecent", &["Bo", "Ada"]),
        ("?search=bo%20mends", &["Bo"]),
        ("?search=%23calm", &["Bo"]),
        ("?search=%23cal", &[]),
        ("?search=nothing", &[]),
        ("?sortBy=highlyRated", &[]),
    ] {
        assert_eq!(names(&all, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn what_is_beyond_its_bounds_is_refused_with_all_faults() {
    let app = TestApp::start().await;
    let many = (0..21).map(|it| it.to_string()).collect::<Vec<_>>().join(",");
    for query in [
        "?limit=0".to_owned(),
        "?limit=101".to_owned(),
        "?offset=-1".to_owned(),
        "?sortBy=x".to_owned(),
        "?isAdult=maybe".to_owned(),
        format!("?search={}", "a".repeat(201)),
        format!("?tags={many}"),
        format!("?tags={}", "a".repeat(101)),
        format!("?modelId={}", "a".repeat(201)),
    ] {
        let reply = app.admin().get(&format!("/characters{query}")).await;
        assert_eq!(reply.status, 400, "{query}: {}", reply.text());
    }
}

#[tokio::test]
async fn each_account_has_one_review_and_the_sums_are_exact() {
    let app = TestApp::start().await;
    add(&app, "Mara", json!({})).await;
    let path = "/characters/mara/reviews";
    let (_, other) = app.funded_account("other", "1").await;
    let first = app.admin().post(path, &json!({"rating": 2, "message": "So so"})).await.ok_json();
    assert_eq!(first["data"]["isOwner"], true);
    app.clock.advance_s(1);
    other.post(path, &json!({"rating": 5, "message": "Good", "locale": "de"})).await.ok_json();
    app.clock.advance_s(1);
    app.admin().post(path, &json!({"rating": 4, "message": "Better"})).await.ok_json();
    let reply = other.get(&format!("{path}?pageSize=1")).await;
    let list = reply.ok_json();
    assert_eq!(list["pagination"], json!({"page": 1, "pageSize": 1, "total": 2, "totalPages": 2}));
    assert_eq!(list["summary"], json!({"averageRating": 4.5, "totalReviews": 2}));
    assert_eq!(
        (&list["data"][0]["message"], &list["data"][0]["isOwner"]),
        (&json!("Better"), &json!(false))
    );
    for (header, value) in [("limit", "1"), ("page", "1"), ("total", "2"), ("total-pages", "2")] {
        assert_eq!(reply.header(&format!("x-pagination-{header}")), value);
    }
    let stats = other.get("/characters/mara").await.ok_json()["data"]["stats"].clone();
    let expected = json!({"averageRating": 4.5, "imports": 0, "ratingCount": 2, "ratingSum": 9.0, "userRating": 5.0});
    assert_eq!(stats, expected);
    for (body, status) in
        [(json!({"rating": 6}), 400), (json!({}), 400), (json!({"rating": 3.5}), 400)]
    {
        assert_eq!(app.admin().post(path, &body).await.status, status, "{body}");
    }
    assert_eq!(app.admin().get("/characters/nobody/reviews").await.status, 404);
    assert_eq!(app.admin().get(&format!("{path}?page=0")).await.status, 400);
}

#[tokio::test]
async fn an_account_that_cannot_pay_reviews_nothing() {
    let app = TestApp::start().await;
    add(&app, "Mara", json!({})).await;
    let path = "/characters/mara/reviews";
    let unpaid = app.another_account("unpaid").await;
    assert_eq!(unpaid.post(path, &json!({"rating": 1})).await.status, 402);
    let (_, poor) = app.funded_account("poor", "0.09").await;
    assert_eq!(poor.post(path, &json!({"rating": 1})).await.status, 402);
    assert_eq!(app.admin().get(path).await.ok_json()["summary"]["totalReviews"], 0);
    let (_, payer) = app.funded_account("payer", "0.10").await;
    payer.post(path, &json!({"rating": 1})).await.ok_json();
}

#[tokio::test]
async fn characters_are_managed_by_the_operator() {
    let app = TestApp::start().await;
    add(&app, "Mara", json!({})).await;
    let again = add(&app, "Mara", json!({})).await;
    assert_eq!(again["slug"], "mara-2", "the same name makes a new slug");
    let admin = app.operator().await;
    let shown = admin.get("/admin/characters/mara").await.ok_json();
    assert_eq!(shown["card"]["data"]["personality"], "Calm.");
    let change = json!({"featured": true, "modelId": "kimi-k3"});
    let changed = admin.patch("/admin/characters/mara", &change).await.ok_json();
    assert_eq!(
        (&changed["data"]["featured"], &changed["data"]["modelId"]),
        (&json!(true), &json!("kimi-k3"))
    );
    let rewritten = card("Mara Neu", &json!({"description": "Sails."}));
    let changed = admin.patch("/admin/characters/mara", &rewritten).await.ok_json();
    assert_eq!(
        (&changed["data"]["name"], &changed["data"]["slug"]),
        (&json!("Mara Neu"), &json!("mara"))
    );
    assert_eq!(names(&admin, "?search=sails").await, ["Mara Neu"]);
    for unknown in [json!({"featured": false, "colour": "red"}), json!({"web_enabled": true})] {
        let reply = admin.patch("/admin/characters/mara", &unknown).await;
        assert_eq!(reply.status, 400, "{unknown}: {}", reply.text());
    }
    let mut unknown = card("Otto", &json!({}));
    unknown["colour"] = "red".into();
    assert_eq!(admin.post("/admin/characters", &unknown).await.status, 400);
    let reply = admin.patch("/admin/characters/mara", &json!({"card": {"name": ""}})).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(admin.delete("/admin/characters/mara").await.ok_json(), json!({"success": true}));
    assert_eq!(admin.get("/characters/mara").await.status, 404);
    assert_eq!(admin.delete("/admin/characters/mara").await.status, 404);
}

#[tokio::test]
async fn an_offset_of_null_is_none() {
    let app = TestApp::start().await;
    add(&app, "Mara", json!({})).await;
    let admin = app.admin();
    assert_eq!(names(&admin, "?search=mara&offset=null").await, ["Mara"]);
    assert_eq!(names(&admin, "?search=mara&offset=1").await, Vec::<String>::new());
    assert_eq!(admin.get("/characters?offset=none").await.status, 400);
    assert_eq!(names(&admin, "?search=null").await, Vec::<String>::new(), "a text stays one");
}
