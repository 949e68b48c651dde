//! A run that diverges, on the page.

use egui::vec2;
use egui_kittest::kittest::Queryable as _;

use super::window::Window;

#[test]
fn p43_a_diverged_run_names_the_tensor_and_offers_its_weights() {
    for (size, theme, language) in
        [(vec2(1366.0, 640.0), egui::Theme::Dark, "en"), (vec2(390.0, 844.0), egui::Theme::Light, "zh")]
    {
        let mut window = Window::open("#v=1&env=pellet&algo=qmix&lr=1&seed=7", size, theme, language);
        window.harness.key_press(egui::Key::Space);
        for _ in 0..100 {
            window.frames(5);
            if window.status()["state"] == "diverged" {
                break;
            }
        }
        let status = window.status();
        let tensor = status["diverged"]["tensor"].as_str().expect("it has diverged").to_owned();
        let update = status["update"].as_u64().expect("a count");
        assert!(window.harness.query_by_label_contains(&tensor).is_some(), "{tensor} is named");
        let button = if language == "en" { "Last good weights, update " } else { "最后一次正常的权重，第 " };
        let window_rect = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
        let last = window.harness.get_by_label_contains(button);
        assert!(window_rect.contains_rect(last.rect()), "{button} is in the window: {:?}", last.rect());
        last.click();
        window.frames(30);
        let status = window.status();
        assert_eq!((&status["state"], status["weightsOf"].as_u64()), (&"paused".into(), Some(update - 1)));
        let said = format!("{}", update - 1);
        let words = if language == "en" { format!("weights of update {said}, changed") } else { said };
        assert!(window.harness.query_all_by_label_contains(&words).count() > 0, "{words}");
    }
}
