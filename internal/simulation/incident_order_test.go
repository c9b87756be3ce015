package simulation

var incidentsOfOrders = []incident{}
var incidentsOfTheHouse = []incident{}
