"""Never storing a mistake: an implausible value is asked about, a slip is undone, an earlier batch is corrected."""

from playwright.sync_api import Page, Route, expect

from tests.web.conftest import Open
from tests.web.scene import Scene


def values(scene: Scene, study: str) -> list[float]:
    page = scene.send("GET", f"/v1/studies/{study}/observations")
    return [one["value"] for one in page["observations"] if one["state"] == "recorded"]


def enter(page: Page, key: str, value: str) -> None:
    page.get_by_label(f"yield of {key}", exact=True).fill(value)
    page.keyboard.press("Enter")


def test_an_implausible_value_is_stored_only_when_it_is_meant(window: Open, scene: Scene, study: str) -> None:
    known = [20.0 + n for n in range(8)]
    scene.report(study, *({"candidate": f"A{n + 1}", "value": value} for n, value in enumerate(known)))
    first, second = (one["key"] for one in scene.ask(study, "b", min_size=2, max_size=2)["suggestions"])
    page = window().sign_in(scene.new_key("technician", study), f"/studies/{study}/bench/b")
    enter(page, first, "2150")
    question = page.get_by_role("alert").filter(has_text="Save 2150 % anyway?")
    expect(question).to_contain_text("Expected")
    assert values(scene, study) == known
    question.get_by_role("button", name="Type it again").click()
    enter(page, first, "21.5")
    expect(page.locator(".slot.saved")).to_contain_text("21.5")
    enter(page, second, "3150")
    page.get_by_role("button", name="Save 3150", exact=True).click()
    expect(page.locator(".slot.saved")).to_have_count(2)
    assert sorted(values(scene, study)) == sorted([*known, 21.5, 3150.0])


def test_an_implausible_value_typed_offline_is_asked_about_later(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n + 1}", "value": 20.0 + n} for n in range(8)))
    [key] = [one["key"] for one in scene.ask(study, "b", min_size=1, max_size=1)["suggestions"]]
    tablet = window()
    page = tablet.sign_in(scene.key, f"/studies/{study}/bench/b")
    page.get_by_label(f"yield of {key}", exact=True).wait_for()
    tablet.lose_connection()
    enter(page, key, "9999")
    expect(page.get_by_text("1 value not yet saved")).to_be_visible()
    tablet.regain_connection()
    expect(page.get_by_text("Save 9999 % anyway?")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Save 9999 % anyway?")).to_be_visible()
    assert len(values(scene, study)) == 8


def test_a_slip_is_undone_for_ten_seconds_and_the_history_knows(window: Open, scene: Scene, study: str) -> None:
    first, second = (one["key"] for one in scene.ask(study, "b", min_size=2, max_size=2)["suggestions"])
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    enter(page, first, "55")
    page.get_by_role("button", name=f"Undo the value of {first}").click()
    expect(page.get_by_label(f"yield of {first}", exact=True)).to_be_visible()
    assert values(scene, study) == []
    enter(page, first, "56")
    expect(page.locator(".slot.saved")).to_contain_text("56")
    enter(page, second, "57")
    undo = page.get_by_role("button", name=f"Undo the value of {second}")
    expect(undo).to_be_visible()
    expect(undo).to_have_count(0)  # after ten seconds
    expect(page.get_by_role("button", name=f"Correct the value of {second}")).to_be_visible()
    assert values(scene, study) == [56.0, 57.0]
    history = scene.send("GET", f"/v1/studies/{study}/observations/1")["observations"]
    assert [(one["value"], one["reason"]) for one in history] == [
        (55.0, None),
        (55.0, "Undone at the bench."),
        (56.0, "Entered again at the bench."),
    ]


def test_an_earlier_batch_is_opened_and_corrected(window: Open, scene: Scene, study: str) -> None:
    for number in (1, 2):
        batch = scene.ask(study, "b", min_size=1, max_size=1)
        scene.report(study, {"suggestion": batch["suggestions"][0]["suggestion"], "value": 10.0 * number})
    scene.ask(study, "b", min_size=1, max_size=1)
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    page.get_by_text("Earlier batches of b (2)").click()
    page.get_by_role("link", name="Batch 1", exact=True).click()
    expect(page.get_by_text("batch 1 · 1 of 1 candidate done")).to_be_visible()
    page.get_by_role("button", name="Correct the value of").click()
    page.get_by_label("New value").fill("12.5")
    page.get_by_label("Reason").fill("scale was off")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.locator(".slot.saved")).to_contain_text("12.5")
    page.get_by_role("link", name="Go to the newest batch").click()
    expect(page.get_by_text("batch 3 · 0 of 1 candidate done")).to_be_visible()
    assert values(scene, study) == [12.5, 20.0]


def test_the_batch_of_last_time_is_asked_for_without_waiting_for_the_list(
    window: Open, scene: Scene, study: str
) -> None:
    scene.ask(study, "b", min_size=2, max_size=2)
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    expect(page.locator(".bench-row")).to_have_count(2)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/batches?worker=*", hold)
    with page.expect_request("**/batches/1"):
        page.reload(wait_until="commit")
    for route in held:
        route.continue_()
    page.unroute("**/batches?worker=*")
    expect(page.locator(".bench-row")).to_have_count(2)
