//! `models`: the catalogue, read from files and read again.

use crate::harness::Home;

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

fn ids(home: &Home) -> Vec<String> {
    let models = home.json(&["models", "list", "--json"]);
    let id = |model: &serde_json::Value| model["id"].as_str().unwrap().to_owned();
    models.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn the_catalogue_is_listed_without_a_database() {
    let home = Home::with_config(&catalogue(&["one", "two"]));
    assert_eq!(ids(&home), ["one", "two"]);
    assert!(home.ok(&["models", "list"]).contains("text"));
    assert!(!home.data_dir().exists());
}

#[test]
fn a_reload_takes_the_new_catalogue_and_refuses_a_wrong_one() {
    let home = Home::with_config(&catalogue(&["one"]));
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
    Home::new().fails(&["models", "reload"], 3, &["no service runs", "tollgate serve"]);
}
