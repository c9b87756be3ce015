package crash

// Points are the named places at which a binary built for it kills itself: "before|after journal KIND" around the commit of a record of that kind,
// "before|after call OPERATION" around a request. The number at the end counts the passes. The points of a group follow each other on one account.
var Points = [][]string{
	{"before journal boot 1", "after journal boot 1", "before journal config 1", "before journal sending 1"},
	{"after journal sending 1", "before call futures_place 1", "after call futures_place 1"},
	{"before journal sending 3", "after journal sending 3", "before journal acknowledged 3"},
	{"before call futures_place 2", "after call futures_place 2", "before journal ended 2"},
	{"before call spot_place 1", "after call spot_place 1", "before call spot_wallet 1"},
	{"before journal acknowledged 1", "after journal acknowledged 1", "after call spot_order_history 1"},
	{"before journal ended 1", "after journal ended 1", "before call futures_order 1"},
	{"before journal fill 1", "before journal plan 1", "after journal plan 1"},
	{"before journal day 1", "after journal day 1", "after journal fill 1"},
	{"before call futures_open_orders 1", "after call futures_open_orders 2", "before call futures_open_positions 1",
		"after call futures_open_positions 1", "after call futures_account 1"},
	{"before journal memory 1", "after journal memory 1"},
	// these need a daemon of their own: the leverage may already be set while a slow disk writes the memory
	{"before call futures_set_leverage 1", "after call futures_set_leverage 1"},
}
