//! The page as a person meets it, by egui_kittest on a software renderer.

mod ui {
    mod diverged;
    mod edits;
    mod fixture;
    mod frames;
    mod page;
    mod person;
    mod policy;
    mod rewards;
    mod seats;
    mod texts;
    mod views;
    mod window;
    mod worlds;
}
