package simulation

var incidentsOfRestarts = []incident{}
var incidentsOfOrders = []incident{}
var incidentsOfTheHouse = []incident{}
