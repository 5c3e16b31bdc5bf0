package kettle_test

func Example() {
	kettle.Boil(nil)
}

// Water comes from the tap.
func ExampleKettle_Fill_tap() {
	k := new(kettle.Kettle)
	k.Fill(tap) // cold
	fmt.Println(k.Water)
	// Output: 2
}

func TestKettle(t *testing.T) {}
