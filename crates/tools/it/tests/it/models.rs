//! Tests of `/models`: the catalogue by type, trait and compatible name.

use expect_test::expect;
use serde_json::Value;
use testkit::app::TestApp;

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_bare_list_is_the_text_models() {
    let app = TestApp::start().await;
    let list = app.anonymous().get("/models").await.ok_json();
    assert_eq!(list["object"], "list");
    assert_eq!(list["type"], "text");
    for model in list["data"].as_array().unwrap() {
        assert_eq!(model["type"], "text");
        assert_eq!(model["object"], "model");
        assert!(model["created"].is_i64(), "SDKs insist on it");
        assert!(model["owned_by"].is_string());
    }
}

#[tokio::test]
async fn each_type_lists_its_own_and_all_lists_everything() {
    let app = TestApp::start().await;
    let all = app.anonymous().get("/models?type=all").await.ok_json();
    let mut counted = 0;
    for kind in ["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video"]
    {
        let list = app.anonymous().get(&format!("/models?type={kind}")).await.ok_json();
        assert!(!ids(&list).is_empty(), "the fixture has a model of type {kind}");
        assert!(list["data"].as_array().unwrap().iter().all(|it| it["type"] == kind));
        counted += ids(&list).len();
    }
    assert_eq!(ids(&all).len(), counted);
    let code = app.anonymous().get("/models?type=code").await.ok_json();
    assert!(!ids(&code).is_empty() && ids(&code).len() < counted);
}

#[tokio::test]
async fn an_unknown_type_is_refused_with_the_types_there_are() {
    let app = TestApp::start().await;
    app.anonymous().get("/models?type=smell").await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"type":{"_errors":["Invalid enum value. Expected 'asr' | 'embedding' | 'image' | 'music' | 'text' | 'tts' | 'upscale' | 'inpaint' | 'video' | 'rerank' | 'moderation' | 'all' | 'code', received 'smell'"]}},"issues":[{"code":"invalid_enum_value","options":["asr","embedding","image","music","text","tts","upscale","inpaint","video","rerank","moderation","all","code"],"received":"smell","path":["type"],"message":"Invalid enum value. Expected 'asr' | 'embedding' | 'image' | 'music' | 'text' | 'tts' | 'upscale' | 'inpaint' | 'video' | 'rerank' | 'moderation' | 'all' | 'code', received 'smell'"}]}"#]]);
    app.anonymous().get("/models/compatibility_mapping?type=all").await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"type":{"_errors":["Invalid enum value. Expected 'asr' | 'embedding' | 'image' | 'music' | 'text' | 'tts' | 'upscale' | 'inpaint' | 'video' | 'rerank' | 'moderation', received 'all'"]}},"issues":[{"code":"invalid_enum_value","options":["asr","embedding","image","music","text","tts","upscale","inpaint","video","rerank","moderation"],"received":"all","path":["type"],"message":"Invalid enum value. Expected 'asr' | 'embedding' | 'image' | 'music' | 'text' | 'tts' | 'upscale' | 'inpaint' | 'video' | 'rerank' | 'moderation', received 'all'"}]}"#]]);
}

#[tokio::test]
async fn a_model_is_found_by_every_name_it_answers_to() {
    let app = TestApp::start().await;
    let traits = app.anonymous().get("/models/traits").await.ok_json();
    let default = traits["data"]["default"].as_str().unwrap();
    let mapping = app.anonymous().get("/models/compatibility_mapping").await.ok_json();
    let (alias, mapped) = mapping["data"].as_object().unwrap().iter().next().unwrap();
    for (asked, wanted) in
        [(default, default), ("default", default), (alias, mapped.as_str().unwrap())]
    {
        let reply = app.anonymous().get(&format!("/models/{asked}")).await;
        assert_eq!(reply.ok_json()["id"], wanted);
        assert_eq!(reply.header("x-service-model-id"), wanted);
    }
}

#[tokio::test]
async fn an_unknown_model_is_answered_with_the_nearest_names() {
    let app = TestApp::start().await;
    let traits = app.anonymous().get("/models/traits").await.ok_json();
    let default = traits["data"]["default"].as_str().unwrap();
    let typo = format!("{default}x");
    let reply = app.anonymous().get(&format!("/models/{typo}")).await;
    assert_eq!(reply.status, 404);
    assert!(reply.json()["error"].as_str().unwrap().contains(default), "{}", reply.text());
}

#[tokio::test]
async fn a_reload_takes_effect_for_the_next_request() {
    let app = TestApp::start().await;
    assert!(!ids(&app.anonymous().get("/models").await.ok_json()).is_empty());
    app.app.catalogue.replace(testkit::app::build_catalogue(""));
    assert!(ids(&app.anonymous().get("/models").await.ok_json()).is_empty());
}
